"""What ships works with nothing else on the path, on the Python and machine it is built for."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from localcloud.functions.runtimes import find_interpreter, load_runtime
from tools.build_zip import build
from tools.lambda_packages import Target, fetch_packages

_ROOT = Path(__file__).parents[2]
_HOST = Target.of_host()
_LAMBDAS = sorted(path.parent.name for path in _ROOT.glob("lambdas/*/handler.py"))
_DECODER = "penstock/spark/decoding/penstock-decoder.jar"
_MACHINES = {0x3E: "x86_64", 0xB7: "arm64"}

# The path of a new interpreter: the standard library, the function, and what Lambda has itself.
_START = """
import json, sys
sys.path[:0], sys.path[len(sys.path):] = sys.argv[1:2], sys.argv[2:]
"""
_ENVIRON = {
    "AWS_ACCESS_KEY_ID": "AKIAMADEUP",
    "AWS_SECRET_ACCESS_KEY": "made-up",
    "AWS_DEFAULT_REGION": "eu-central-1",  # Lambda sets both
    "AWS_REGION": "eu-central-1",
    "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9",
    "PENSTOCK_REGISTRY": "glue://plant?region=eu-central-1",
    "PENSTOCK_READINGS_TABLE": "readings",
    "PENSTOCK_ERRORS_TABLE": "errors",
    "PENSTOCK_PARKED_BUCKET": "parked",
    "PENSTOCK_REJECTED_BUCKET": "rejected",
    "PENSTOCK_PLAN": str(_ROOT / "tests/data/staging.json"),
    "PENSTOCK_QUALITY_TABLES": "{}",
    "PENSTOCK_REPORTS": "s3://lake/quality",
    "PENSTOCK_STAGED_TABLES": "penstock-{table}",
    "PENSTOCK_SYNC_TABLES": "{}",
    "PENSTOCK_WAITING_TABLE": "waiting",
}
# For each function a call that needs no network, and its answer.
_CALLS = {
    "access": (
        {
            "topic": {"name": "sensor", "delete_when_removed": False},
            "tf": {"action": "delete", "prev_input": None},
        },
        {"done": []},
    ),
    "consumer": (
        json.loads((_ROOT / "lambdas/consumer/events/tombstone.json").read_text()),
        {"batchItemFailures": []},
    ),
    "producer": ([], []),
    "quality": (json.loads((_ROOT / "lambdas/quality/events/schedule.json").read_text()), {}),
    "sync": (json.loads((_ROOT / "lambdas/sync/events/schedule.json").read_text()), {}),
    "status": (
        json.loads((_ROOT / "lambdas/status/events/schedule.json").read_text()),
        {
            "kept_events": [],
            "dead_letter_tables": [],
            "versions_left": [
                {
                    "producer": "f",
                    "schema": "s",
                    "budget": 5,
                    "few": 1,
                    "left": 5,
                    "problem": None,
                }
            ],
        },
    ),
    # The 10 seconds of the context are too few for a run.
    "retry": (
        json.loads((_ROOT / "lambdas/retry/events/schedule.json").read_text()),
        {"joined": 0, "waiting": 0, "parked": 0, "lost": 0, "notices": 0, "is_complete": False},
    ),
}
# Settings of one function: without a bucket, its call needs no network.
_SETTINGS = {
    "status": {
        "PENSTOCK_REJECTED_BUCKET": "",
        "PENSTOCK_STATUS_PRODUCERS": json.dumps({"memory://": {"f": ["s", 5, 1]}}),
    }
}
# What a function has besides, and the number of its extensions.
_PACKAGES = {
    "quality": ("cramjam", "lz4", "zstandard"),
    "sync": (
        *("annotated_types", "cachetools", "mmh3", "pydantic", "pydantic_core", "pyiceberg"),
        *("pyparsing", "strictyaml", "typing_inspection", "zstandard"),
    ),
}
# What is named otherwise than its package, and what pyiceberg brings.
_BESIDE = {
    "quality": {"python_snappy-info", "snappy"},
    "sync": {"fb303", "hive_metastore"},
}
_EXTENSIONS = {"quality": 6, "sync": 5}
_VERSION = re.compile(r"-[^-]+\.dist(?=-info$)|\.cpython-.+$")
_CONTEXT = """
from types import SimpleNamespace
context = SimpleNamespace(
    function_name="function", memory_limit_in_mb=512, aws_request_id="request",
    invoked_function_arn="arn:aws:lambda:eu-central-1:111122223333:function:function",
    get_remaining_time_in_millis=lambda: 10_000,
)
"""
_CODEC = """
from penstock.framing import FrameKind, SchemaKey, decode_frame, encode_glue_frame
from penstock.schemas import decode, encode, infer_schema
schema = infer_schema({"temperature": 30.5}, "sensor")
key = SchemaKey(FrameKind.GLUE, bytes(16))
frame = decode_frame(encode_glue_frame(key, encode({"temperature": 30.5}, schema), True))
print(decode(frame.payload, schema))
"""
_JOB_IMPORTS = """
import kafka, penstock.kafka, penstock.registry.glue, penstock.sinks
from aws_msk_iam_sasl_signer.MSKAuthTokenProvider import generate_auth_token
generate_auth_token('eu-central-1')  # looks for its version in METADATA
print(kafka.__file__)
import jobs.sales.generated
print(jobs.sales.generated.__file__.split("/")[-4])
import boto3
boto3.client("dynamodb")
print(boto3.__file__)
"""
_ENTRY_POINTS = """
from importlib.metadata import distribution
found, package = {}, distribution("penstock")
for each in package.entry_points:
    found.setdefault(each.group, {})[each.name] = each.value
print(json.dumps([package.version, found]))
"""


@pytest.mark.parametrize("name", _LAMBDAS)
def test_a_function_runs_from_its_zip(zips: Path, tmp_path: Path, name: str) -> None:
    unpacked = tmp_path / name
    zipfile.ZipFile(zips / f"{name}-lambda.zip").extractall(unpacked)
    runtime = load_runtime(f"python{_HOST.python}").folders
    event, expected = _CALLS[name]

    said = _run(
        f"import os\nos.environ.update({_SETTINGS.get(name, {})!r})\n"
        "import handler, crc32c._crc32c\n"
        "from aws_msk_iam_sasl_signer.MSKAuthTokenProvider import generate_auth_token\n"
        "generate_auth_token('eu-central-1')  # looks for its version in METADATA\n"
        f"event = json.loads({json.dumps(event)!r})\n"
        f"{_CONTEXT}"
        "print(json.dumps(handler.lambda_handler(event, context)))",
        unpacked,
        *runtime,
    )

    assert json.loads(said.splitlines()[-1]) == expected  # before it, the function's own log


@pytest.mark.parametrize("name", ["penstock-pyfiles", *(f"{name}-lambda" for name in _LAMBDAS)])
def test_the_codec_runs_from_inside_a_zip(zips: Path, name: str) -> None:
    assert _run(_CODEC, zips / f"{name}.zip") == "{'temperature': 30.5}\n"


def test_jobs_get_penstock(zips: Path) -> None:
    names = zipfile.ZipFile(zips / "penstock-pyfiles.zip").namelist()

    tops = {name.split("/")[0] for name in names if "dist-info" not in name}
    assert tops == {"jobs", "penstock"}
    assert "jobs/sales/records.py" in names
    assert "jobs/consume.py" not in names
    assert not any(name.endswith(".so") for name in names)
    of_penstock = {name for name in names if name.startswith("penstock/")}
    source = _ROOT / "src"
    files = [path for path in (source / "penstock").rglob("*") if path.is_file()]
    assert of_penstock == {
        path.relative_to(source).as_posix() for path in files if path.suffix != ".pyc"
    }
    assert _DECODER in of_penstock


def test_a_wheel_brings_the_decoder_and_a_function_does_not(zips: Path, tmp_path: Path) -> None:
    build = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        tmp_path,
    ]
    subprocess.run(build, cwd=_ROOT, check=True, capture_output=True, timeout=300)

    (wheel,) = tmp_path.glob("*.whl")
    assert _DECODER in zipfile.ZipFile(wheel).namelist()
    for name in _LAMBDAS:
        assert _DECODER not in zipfile.ZipFile(zips / f"{name}-lambda.zip").namelist()


def test_a_job_imports_from_its_zips_alone(zips: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(zips / "penstock-packages.zip").extractall(tmp_path)

    said = _run(_JOB_IMPORTS, zips / "penstock-pyfiles.zip", tmp_path)

    kafka, boto3 = (f"{tmp_path}/{name}/__init__.py" for name in ("kafka", "boto3"))
    assert said.split() == [kafka, "penstock-pyfiles.zip", boto3]


def test_a_job_finds_the_sinks_and_the_commands_of_extensions_in_its_zip(zips: Path) -> None:
    said = _run(_ENTRY_POINTS, zips / "penstock-pyfiles.zip")

    with (_ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert json.loads(said) == [project["version"], project["entry-points"]]
    assert "parquet" in project["entry-points"]["penstock.sinks"]


def test_the_packages_of_jobs_run_on_any_machine(zips: Path) -> None:
    names = zipfile.ZipFile(zips / "penstock-packages.zip").namelist()

    wanted = {"aws_msk_iam_sasl_signer", "boto3", "botocore", "kafka"}
    assert wanted < {name.split("/")[0] for name in names}
    assert not any(name.endswith(".so") for name in names)


@pytest.mark.parametrize("name", _LAMBDAS)
def test_a_function_gets_its_handler_and_what_it_needs(zips: Path, name: str) -> None:
    archive = zipfile.ZipFile(zips / f"{name}-lambda.zip")
    tops = {entry.split("/")[0] for entry in archive.namelist()}

    packages = _PACKAGES.get(name, ())
    assert {_VERSION.sub("", top) for top in tops} == {
        *packages,
        *(f"{package}-info" for package in packages),
        *_BESIDE.get(name, ()),
        *("aws_lambda_powertools", "aws_msk_iam_sasl_signer", "crc32c", "handler.py", "kafka"),
        *("penstock", "typing_extensions.py"),
        *("aws_lambda_powertools-info", "aws_msk_iam_sasl_signer_python-info", "crc32c-info"),
        *("kafka_python-info", "typing_extensions-info"),
    }
    assert archive.read("handler.py") == (_ROOT / f"lambdas/{name}/handler.py").read_bytes()


def test_the_sync_imports_all_that_changes_columns(zips: Path, tmp_path: Path) -> None:
    archive = zipfile.ZipFile(zips / "sync-lambda.zip")
    archive.extractall(tmp_path)

    said = _run(
        "from penstock.extensions.drift.inspection import sync_tables\n"
        "print(sync_tables([], apply=True))",
        tmp_path,
        *load_runtime(f"python{_HOST.python}").folders,
    )

    assert said == "()\n"
    # Lambda takes 50 MB by its API, without a bucket.
    assert sum(entry.file_size for entry in archive.infolist()) < 45_000_000


def test_the_quality_unpacks_each_compression_of_kafka(zips: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(zips / "quality-lambda.zip").extractall(tmp_path)

    said = _run(
        "from kafka.codec import *\n"
        "print(gzip_decode(gzip_encode(b'g')), lz4_decode(lz4_encode(b'l')))\n"
        "print(snappy_decode(snappy_encode(b's')), zstd_decode(zstd_encode(b'z')))",
        tmp_path,
    )

    assert said == "b'g' b'l'\nb's' b'z'\n"


def test_two_builds_give_the_same_bytes(zips: Path, tmp_path: Path) -> None:
    uncached = partial(fetch_packages, cache=tmp_path / "cache")
    with patch("tools.build_zip.fetch_packages", uncached):
        build(_HOST, tmp_path / "again")

    assert _hashes(tmp_path / "again") == _hashes(zips)
    assert len(_hashes(zips)) == len(_LAMBDAS) + 2


def test_bytecode_is_used_and_the_same_in_each_build(zips: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        build(_HOST, tmp_path / name, with_bytecode=True)
    assert _hashes(tmp_path / "one") == _hashes(tmp_path / "two")
    unpacked = tmp_path / "producer"
    archive = zipfile.ZipFile(tmp_path / "one/producer-lambda.zip")
    archive.extractall(unpacked)
    # The source would be compiled if the bytecode were for another Python, or compared with it.
    for module in unpacked.rglob("*.py"):
        if module.name not in {"handler.py", "typing_extensions.py"}:
            module.write_text("raise AssertionError('compiled')")

    said = _run(
        "import handler, crc32c\nprint(handler.lambda_handler.__name__)",
        unpacked,
        *load_runtime(f"python{_HOST.python}").folders,
    )

    assert said == "lambda_handler\n"
    plain = zipfile.ZipFile(zips / "producer-lambda.zip").namelist()
    assert {name for name in archive.namelist() if not name.endswith(".pyc")} == set(plain)
    assert "sync-lambda.zip" in _hashes(tmp_path / "one")
    of_sync = zipfile.ZipFile(tmp_path / "one/sync-lambda.zip").namelist()
    assert not any(name.endswith(".pyc") for name in of_sync)


@pytest.mark.parametrize(
    "target",
    [
        Target("3.13", "arm64"),
        pytest.param(Target("3.12", "x86_64"), marks=pytest.mark.nightly),
    ],
    ids=str,
)
def test_binaries_are_those_of_the_target(tmp_path: Path, target: Target) -> None:
    build(target, tmp_path)

    for name in _LAMBDAS:
        archive = zipfile.ZipFile(tmp_path / f"{name}-lambda.zip")
        found = [entry for entry in archive.namelist() if entry.endswith(".so")]
        assert len(found) == _EXTENSIONS.get(name, 1)
        for entry in found:
            assert f".cpython-{target.python.replace('.', '')}-" in entry
            machine = int.from_bytes(archive.read(entry)[18:20], "little")
            assert _MACHINES[machine] == target.arch


def _run(code: str, *path: Path) -> str:
    """Run code in a new interpreter that has the standard library and this path."""
    done = subprocess.run(
        [find_interpreter(_HOST.python), "-I", "-S", "-c", _START + code, *map(str, path)],
        env=_ENVIRON,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _hashes(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.zip")
    }
