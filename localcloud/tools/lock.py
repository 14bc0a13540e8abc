"""Write the lock files of localcloud: its packages, those of Lambda's runtime, and its jars.

Usage: python localcloud/tools/lock.py   (`make lock` runs it; it needs the jars of `make install`)
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from localcloud.jars import JARS

_PROJECT = Path(__file__).resolve().parents[1]
_PACKAGE = _PROJECT / "src/localcloud"
_MAVEN = Path.home() / ".m2/repository"
# The client of Lambda's Runtime API, and what Lambda's Python has beside it.
_RUNTIME = "awslambdaric==4.2.2\nboto3\n"
_COMPILE = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
_COMPILE += ["--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"]
_HEADER = "# Made by localcloud/tools/lock.py from the poms of localcloud/jars.\n"


def main() -> None:
    """Write the three files."""
    # The same versions as the clone's, which the tests run with.
    compile_ = [sys.executable, "-m", *_COMPILE, "--constraint", "requirements.lock"]
    own = ["localcloud/pyproject.toml", "--all-extras", "--output-file"]
    _run([*compile_, *own, "localcloud/requirements.lock"], "")
    _run([*compile_, "-", "--output-file", f"{_PACKAGE}/functions/runtime.lock"], _RUNTIME)
    jars = [line for pom in sorted(_PROJECT.glob("jars/*/pom.xml")) for line in _lock_jars(pom)]
    (_PACKAGE / "jars.toml").write_text(_HEADER + "".join(jars))


def _run(words: list[str], given: str) -> None:
    subprocess.run(words, cwd=_PROJECT.parent, check=True, input=given, text=True)


def _lock_jars(pom: Path) -> Iterator[str]:
    """Yield the tables of the jars that Maven fetched for a pom, or of their archive."""
    folder = JARS / pom.parent.name
    known = {path.name: path for path in _MAVEN.rglob("*") if path.suffix in {".jar", ".gz"}}
    for jar in sorted(folder.glob("*.jar")):
        if jar.name in known:
            yield _table(folder.name, known[jar.name], "")
            continue
        (archive,) = (each for name, each in known.items() if _holds(each, name, jar.name))
        yield _table(folder.name, archive, jar.name)


def _holds(file: Path, name: str, jar: str) -> bool:
    if not name.endswith(".tar.gz"):
        return False
    with tarfile.open(file) as archive:
        return any(Path(each).name == jar for each in archive.getnames())


def _table(purpose: str, file: Path, holds: str) -> str:
    values = {
        "purpose": purpose,
        "path": file.relative_to(_MAVEN).as_posix(),
        "size": file.stat().st_size,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    } | ({"holds": holds} if holds else {})
    lines = (f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    return "".join(["\n[[jar]]\n", *lines])


if __name__ == "__main__":
    main()
