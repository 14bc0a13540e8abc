"""Write the lock files of localcloud: its packages, those of Lambda's runtime, and its jars.

Usage: python localcloud/tools/lock.py   (`make lock` runs it)
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
from pathlib import Path

from localcloud.command.fetch import PURPOSES
from localcloud.jars import copied_jars

_PROJECT = Path(__file__).resolve().parents[1]
_PACKAGE = _PROJECT / "src/localcloud"
# The client of Lambda's Runtime API, and what Lambda's Python has beside it.
_RUNTIME = "awslambdaric==4.2.2\nboto3\n"
_COMPILE = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
_COMPILE += ["--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"]
_HEADER = "# Made by localcloud/tools/lock.py from the poms of localcloud/src/localcloud/poms.\n"


def main() -> None:
    """Write the three files."""
    # The same versions as the clone's, which the tests run with.
    compile_ = [sys.executable, "-m", *_COMPILE, "--constraint", "requirements.lock"]
    own = ["localcloud/pyproject.toml", "--all-extras", "--no-emit-package", "localcloud"]
    _run([*compile_, *own, "--output-file", "localcloud/requirements.lock"], "")
    _run([*compile_, "-", "--output-file", f"{_PACKAGE}/functions/runtime.lock"], _RUNTIME)
    with copied_jars(PURPOSES, lambda _: None) as folder:
        tables = [_table(file) for name in PURPOSES for file in sorted((folder / name).iterdir())]
    (_PACKAGE / "jars.toml").write_text(_HEADER + "".join(tables))


def _run(words: list[str], given: str) -> None:
    subprocess.run(words, cwd=_PROJECT.parent, check=True, input=given, text=True)


def _table(file: Path) -> str:
    values = {
        "purpose": file.parent.name,
        "file": file.name,
        "size": file.stat().st_size,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }
    if file.name.endswith(".tar.gz"):
        with tarfile.open(file) as archive:  # what is started is beside its folders
            names = [name.removeprefix("./") for name in archive.getnames()]
        values["holds"] = next(each for each in names if Path(each).match("*-runner.jar"))
    lines = (f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    return "".join(["\n[[jar]]\n", *lines])


if __name__ == "__main__":
    main()
