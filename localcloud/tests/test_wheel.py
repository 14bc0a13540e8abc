"""The wheel in an empty virtual environment, as the pages for its users say."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_PROJECT = Path(__file__).resolve().parents[1]
_PAGE = (_PROJECT / "docs/from-other-emulators.md").read_text()
_CI = (_PROJECT / "examples/ci.yml").read_text()
# From the packages that `make install` left in the cache: the tests reach no index.
_UV = [sys.executable, "-m", "uv", "--quiet", "--offline"]
# Spark, for which nobody asks here, and what pip has brought in place of uv.
_OTHERS = re.compile(r"^(py4j|pyspark|setuptools|uv)==(.*\\\n)*.*\n", re.MULTILINE)
_SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"
_PROVIDER = "registry.terraform.io/hashicorp/aws"


def _run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _copy_uv(site):
    for file in files("uv"):
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file.locate(), target)


def _blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", _PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The programs of an environment that has the wheel and what it asks for, as the lock says."""
    folder = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=_PROJECT)
    (wheel,) = folder.glob("localcloud-*.whl")
    _run([*_UV, "venv", "--python", sys.executable, folder / "env"])
    programs = folder / "env/bin"
    lock = folder / "requirements.lock"
    lock.write_text(_OTHERS.sub("", (_PROJECT / "requirements.lock").read_text()))
    # The cache has packages, and not what the index says of them: what is missing is found below.
    install = [*_UV, "pip", "install", "--python", programs / "python", "--no-deps"]
    _run([*install, "--require-hashes", "--requirement", lock])
    _copy_uv(Path(_run([programs / "python", "-c", _SITE]).strip()))
    _run([*install, wheel])
    _run([*_UV, "pip", "check", "--python", programs / "python"])
    return programs


@pytest.fixture(scope="module")
def shell(installed, tmp_path_factory):
    """Run lines in the folder of a user who has the wheel, the AWS CLI, Maven and Terraform."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "main.tf").write_text("".join(_blocks("hcl")))
    (folder / "tests").mkdir()
    for number, block in enumerate(_blocks("python")):
        (folder / f"tests/test_{number}.py").write_text(block)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    aws = Path(sys.executable).parent  # behind those of the wheel, of which it has others too
    given = {
        "PATH": f"{installed}:{aws}:{os.environ['PATH']}",
        "HOME": str(Path.home()),  # what Maven has
        "LOCALCLOUD_CACHE": str(folder / "cache"),
        **{name: value for name, value in os.environ.items() if name.startswith("TF_")},
    }
    mirrors = sorted(Path("/opt").glob(f"*/{_PROVIDER}"))
    if mirrors:
        given["TF_CLI_ARGS_init"] = f"-plugin-dir={mirrors[0].parents[2]}"

    def run(lines):
        lines = lines.replace("localcloud up", f"localcloud up --port {port}")
        return _run(["bash", "-euo", "pipefail", "-c", lines], cwd=folder, env=given)

    yield run
    run("localcloud down")
    assert (folder / ".localcloud").is_dir()


def test_the_page_for_users_of_other_emulators_is_true(shell):
    shell("! python -c 'import penstock' 2>/dev/null")
    first, terraform = _blocks("bash")

    said = shell(f"{first}\n{terraform}")

    assert "S3 for Spark, for jobs of EMR and EMR Serverless: 65 MB from Maven" in said
    assert "  missing   Kafka, for MSK clusters; Kafka Connect" in said
    assert ": localcloud fetch\n" in said
    assert "Apply complete! Resources: 1 added" in said
    assert ":111111111111:orders" in said
    assert "localcloud ended" in shell("localcloud down")


def test_the_example_of_ci_runs(shell):
    assert "secrets" not in _CI.replace("no secrets", "")
    job = yaml.safe_load(_CI)["jobs"]["test"]
    runs = [step["run"] for step in job["steps"] if "run" in step]
    install, *others = runs
    assert install.startswith('pip install "localcloud[testing] @ git+')

    said = [shell(each) for each in others]

    fetched, tested, used, ended = said
    assert "all jars are there" in fetched
    assert f"{len(_blocks('python'))} passed" in tested
    assert ":111111111111:readings" in used
    assert "localcloud ended" in ended
