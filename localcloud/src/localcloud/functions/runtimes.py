"""The Python interpreters of functions, and the packages of AWS's runtime."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from localcloud.children import LIFELINE
from localcloud.door.errors import AwsError
from localcloud.folders import CACHE

_CACHE = CACHE / "lambda-runtime"
_LOCK = Path(__file__).with_name("runtime.lock")
_NAME = re.compile(r"python(3\.\d+)")

# Two folders in the order of Lambda's path: the client of the Runtime API, then boto3. A function
# never sees localcloud's own packages: they would hide what is missing in its zip.
_FOLDERS = {
    "ric": ("awslambdaric", "simplejson", "snapshot-restore-py"),
    "sdk": (
        "boto3",
        "botocore",
        "jmespath",
        "python-dateutil",
        "s3transfer",
        "six",
        "urllib3",
    ),
}
# The interpreter may have packages of its own; Lambda's has none. (-S would also skip
# sitecustomize, which resolves a VPC's names.)
_START = f"""{LIFELINE}
import runpy, sys

sys.path[:] = [os.getcwd()] + [
    path for path in sys.path[1:] if not path.endswith(("site-packages", "dist-packages"))
]
runpy.run_module("awslambdaric", run_name="__main__", alter_sys=True)
"""
_IS_BARE = "import sys; print('%d.%d' % sys.version_info[:2], sys.prefix == sys.base_prefix)"
_preparing = threading.Lock()


@dataclass(frozen=True, slots=True)
class Runtime:
    """An interpreter, and the folders after a function's own on its path."""

    interpreter: str
    folders: tuple[Path, ...]

    def command(self, handler: str) -> list[str]:
        """Return the command that serves a handler from the current folder."""
        return [self.interpreter, "-c", _START, handler]


def load_runtime(name: str) -> Runtime:
    """Find the interpreter of a Lambda runtime and prepare its folders, once.

    Raises:
        AwsError: it is not a Python runtime, or this machine has no such Python.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise _refuse(f"the runtime {name!r} is not supported, expected python3.N")
    interpreter = find_interpreter(match[1])
    if interpreter is None:
        raise _refuse(
            f"the runtime {name} needs a Python {match[1]} and none was found on PATH or under "
            f"pyenv: install it (pyenv install {match[1]}), or choose another runtime"
        )
    with _preparing:
        home = _prepare(name, interpreter)
    return Runtime(interpreter, tuple(home / folder for folder in _FOLDERS))


@functools.cache
def find_interpreter(version: str) -> str | None:
    """Find a Python 3.N outside any virtual environment, on PATH or in pyenv; None if missing."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders = [Path(folder) for folder in os.get_exec_path()]
    folders += sorted((pyenv / "versions").glob(f"{version}.*/bin"))
    for folder in folders:
        candidate = folder / f"python{version}"
        if candidate.is_file() and _is_bare(candidate, version):
            return str(candidate)
    return None


def _is_bare(candidate: Path, version: str) -> bool:
    # Run it: pyenv has shims for versions that do not run.
    asked = subprocess.run(
        [candidate, "-I", "-c", _IS_BARE], capture_output=True, text=True, check=False, timeout=20
    )
    return asked.stdout.split() == [version, "True"]


def _prepare(name: str, interpreter: str) -> Path:
    pinned = {folder: _read_pins(packages) for folder, packages in _FOLDERS.items()}
    digest = hashlib.sha256(f"{interpreter}{pinned}".encode()).hexdigest()[:12]
    home = _CACHE / f"{name}-{digest}"
    if not home.exists():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_CACHE) as scratch:
            made = Path(scratch) / "made"
            for folder, pins in pinned.items():
                _install(interpreter, pins, made / folder)
            if not home.exists():  # in one step: nobody sees an incomplete folder
                made.rename(home)
    return home


def _read_pins(packages: tuple[str, ...]) -> str:
    """Return the packages' lines of the lock file, hashes included."""
    blocks = {block.split("==")[0]: block for block in re.split(r"\n(?=[a-z])", _LOCK.read_text())}
    return "\n".join(blocks[package] for package in packages) + "\n"


def _install(interpreter: str, pins: str, target: Path) -> None:
    target.mkdir(parents=True)
    requirements = target.with_suffix(".txt")
    requirements.write_text(pins)
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", interpreter]
    command += ["--no-deps", "--require-hashes", "--requirement", str(requirements)]
    done = subprocess.run(
        [*command, "--target", str(target)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise AwsError(
            "ServiceException",
            f"the packages of Lambda's runtime cannot be installed: {done.stderr.strip()}",
            status=500,
        )


def _refuse(message: str) -> AwsError:
    return AwsError("InvalidParameterValueException", message)
