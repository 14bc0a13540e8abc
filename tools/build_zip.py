"""Build what ships: a zip for each Lambda, and two for Spark jobs.

The same sources and pins give the same bytes, whoever builds them
(docs/adr/0040-reproducible-zips.md). For localcloud: --python host --arch host.
"""

from __future__ import annotations

import argparse
import io
import sys
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.bytecode import compile_files
from tools.lambda_packages import (
    MACHINES,
    PYTHONS,
    BuildError,
    Target,
    fetch_packages,
    read_lambda_names,
)

_ROOT = Path(__file__).resolve().parents[1]
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip can hold
_MODE = 0o100644 << 16  # a regular file that everyone may read
_UNIX = 3
# Packages that jobs need and EMR lacks, in a zip that Spark unpacks: pure Python, for any machine.
# botocore cannot read its own files from inside a zip, and kafka opens it again for each of the
# 109 files that it reads.
_FOR_JOBS = ("aws_msk_iam_sasl_signer", "kafka")
# boto3 and what it needs, which nobody promises in EMR's Python.
BOTO3 = ("boto3", "botocore", "jmespath", "python-dateutil", "s3transfer", "six", "urllib3")

# By function, what it needs besides the extra `lambda`: what kafka-python unpacks records with, and
# what pyiceberg imports to change columns.
_FOR_FUNCTIONS = {
    "quality": ("cramjam", "lz4", "python-snappy", "zstandard"),
    "sync": (
        *("annotated-types", "cachetools", "mmh3", "pydantic", "pydantic-core", "pyiceberg"),
        *("pyparsing", "strictyaml", "typing-inspection", "zstandard"),
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Build all zips and print their sizes; return 1 when a package is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--python", default="3.13", choices=[*PYTHONS, "host"], help="of the functions [3.13]")
    add("--arch", default="arm64", choices=[*MACHINES, "host"], help="of the functions [arm64]")
    add("--bytecode", action="store_true", help="with bytecode, for shorter cold starts")
    add("--into", default=_ROOT / "build", type=Path, help="folder for the zips [build]")
    given, host = parser.parse_args(argv), Target.of_host()
    target = Target(
        host.python if given.python == "host" else given.python,
        host.arch if given.arch == "host" else given.arch,
    )
    try:
        lines = build(target, given.into, with_bytecode=given.bytecode)
    except BuildError as error:
        print(f"Nothing was built: {error}", file=sys.stderr)
        return 1
    print(f"For {target}:", *lines, sep="\n  ")
    return 0


def build(target: Target, into: Path, *, with_bytecode: bool = False) -> list[str]:
    """Build a zip of each handler with its packages, and two for jobs that run on any machine.

    Returns:
        A line about each zip.

    Raises:
        BuildError: a package is not available for the target, or its Python for the bytecode.
    """
    source = list_files(_ROOT / "src")
    packages = list_files(fetch_packages(read_lambda_names(), target))
    shared = packages | {name: path for name, path in source.items() if path.suffix != ".jar"}
    bytecode = compile_files(shared, target.python) if with_bytecode else {}
    lines = []
    for handler in sorted(_ROOT.glob("lambdas/*/handler.py")):
        name = handler.parent.name
        own = (
            list_files(fetch_packages(_FOR_FUNCTIONS[name], target))
            if name in _FOR_FUNCTIONS
            else {}
        )
        # A function with packages of its own runs on a schedule, and Lambda takes 50 MB.
        compiled = {} if own else bytecode
        of_function: dict[str, Path | bytes] = {**shared, **own, **compiled, "handler.py": handler}
        lines.append(write_zip(into / f"{name}-lambda.zip", of_function))
    for_jobs = {name: packages[name] for name in packages if name.startswith(_FOR_JOBS)}
    boto3 = list_files(fetch_packages(BOTO3, target))
    # The packages beside the programs: an upload holds the program alone. Python finds no package
    # without `__init__.py` in a zip that has no entries for folders.
    jobs = {f"jobs/{name}": path for name, path in list_files(_ROOT / "jobs").items()}
    programs = {
        name: path
        for name, path in jobs.items()
        if name.count("/") > 1 or name == "jobs/__init__.py"
    }
    about = describe_package(_ROOT / "pyproject.toml")
    files: dict[str, Path | bytes] = {**programs, **source, **about}
    lines.append(write_zip(into / "penstock-pyfiles.zip", files))
    return [*lines, write_zip(into / "penstock-packages.zip", for_jobs | boto3)]


def describe_package(project: Path) -> dict[str, bytes]:
    """Return the metadata of the package, by which Python finds its entry points, such as sinks."""
    about = tomllib.loads(project.read_text())["project"]
    folder = f"{about['name']}-{about['version']}.dist-info"
    points = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in each.items()), ""])
        for group, each in about["entry-points"].items()
    ]
    head = f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
    return {
        f"{folder}/METADATA": head.encode(),
        f"{folder}/entry_points.txt": "\n".join(points).encode(),
    }


def list_files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder that ship, by their names in a zip."""
    found = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {name.as_posix(): path for name, path in found.items() if _ships(name)}


def _ships(name: Path) -> bool:
    if name.name.startswith("_cffi."):
        return False  # zstandard's code for PyPy, 12 MB: CPython has its own
    if name.parts[0].endswith(".dist-info"):
        return name.name == "METADATA"  # read at run time for a package's version
    return name.parts[0] not in {"bin", ".lock"} and "__pycache__" not in name.parts


def write_zip(path: Path, files: Mapping[str, Path | bytes]) -> str:
    """Write a zip of files, unless the same one exists, and return a line with its size.

    A file is a path, or its content. Nothing is compressed: the output of zlib depends on its
    version.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system, entry.external_attr = _UNIX, _MODE
            file = files[name]
            archive.writestr(entry, file if isinstance(file, bytes) else file.read_bytes())
    made = buffer.getvalue()
    changed = not path.exists() or path.read_bytes() != made
    if changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made)
    said = f"{path.name}: {len(made) / 1e6:.1f} MB, {len(files)} files"
    return said if changed else f"{said}, unchanged"


if __name__ == "__main__":
    sys.exit(main())
