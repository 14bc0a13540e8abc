"""The packages that ship with functions and jobs, for a chosen Python and architecture."""

from __future__ import annotations

import hashlib
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = {"arm64": "aarch64", "x86_64": "x86_64"}  # by Lambda's name for the architecture

_ROOT = Path(__file__).resolve().parents[1]
_CACHE = _ROOT / ".cache" / "packages"
_ELF_MACHINES = {0x3E: "x86_64", 0xB7: "arm64"}  # e_machine, two bytes at 18 of an ELF file


class BuildError(Exception):
    """An error that stops a build."""


@dataclass(frozen=True, slots=True)
class Target:
    """The Python and the architecture of the functions that a zip is for."""

    python: str
    arch: str

    @classmethod
    def of_host(cls) -> Target:
        """Return the target of this machine, where localcloud runs functions."""
        machine = platform.machine()
        return cls(f"3.{sys.version_info.minor}", {"aarch64": "arm64"}.get(machine, machine))

    def __str__(self) -> str:
        """Return its name in Terraform and AWS."""
        return f"python{self.python} on {self.arch}"


def fetch_packages(names: Iterable[str], target: Target, cache: Path = _CACHE) -> Path:
    """Unpack packages into a folder, once per set of pins and target.

    Raises:
        BuildError: a package is not available for the target.
    """
    pins = read_pins(names)
    digest = hashlib.sha256(pins.encode()).hexdigest()[:12]
    home = cache / f"python{target.python}-{target.arch}-{digest}"
    if not home.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            made, requirements = Path(scratch, "made"), Path(scratch, "requirements.txt")
            requirements.write_text(pins)
            _install(requirements, target, made)
            check_binaries(made, target)
            if not home.exists():  # in one step, so that no process finds half of it
                made.rename(home)
    return home


def read_lambda_names() -> list[str]:
    """Return the packages that the extra `lambda` names.

    Their own dependencies are part of Lambda (boto3) or serve a command line (click).
    """
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    return [re.split(r"[^\w.-]", line)[0] for line in project["optional-dependencies"]["lambda"]]


def read_pins(names: Iterable[str]) -> str:
    """Return the lines of requirements.lock for packages."""
    lock = (_ROOT / "requirements.lock").read_text()
    blocks = {block.split("==")[0]: block for block in re.split(r"\n(?=[a-z])", lock)}
    return "\n".join(blocks[name].rstrip() for name in sorted(names)) + "\n"


def check_binaries(folder: Path, target: Target) -> None:
    """Reject extensions for another Python or machine; without theirs, packages run slowly.

    Raises:
        BuildError: an extension is for another target; names the first one.
    """
    for path in sorted(folder.rglob("*.so")):
        version = re.search(r"\.cpython-3(\d+)", path.name)
        number = int.from_bytes(path.read_bytes()[18:20], "little")
        found = Target(
            f"3.{version[1]}" if version else target.python,
            _ELF_MACHINES.get(number, f"ELF machine {number}"),
        )
        if found != target:
            name = path.relative_to(folder)
            raise BuildError(f"{name} is built for {found}, expected {target}")


def _install(requirements: Path, target: Target, folder: Path) -> None:
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps"]
    command += ["--require-hashes", "--only-binary", ":all:", "--requirement", str(requirements)]
    # Lambda's systems for these Pythons have glibc 2.26 or later; manylinux2014 needs 2.17.
    command += ["--python-platform", f"{MACHINES[target.arch]}-manylinux2014"]
    command += ["--python-version", target.python, "--target", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"the packages for {target} cannot be installed: {done.stderr.strip()}")
