"""A function's zip: the check whether it can run, and its files on disk."""

from __future__ import annotations

import io
import platform
import re
import stat
import tempfile
import threading
import zipfile
from pathlib import Path

from localcloud.door.errors import AwsError

_MAX_UNPACKED_BYTES = 262_144_000
# foo.cpython-313-x86_64-linux-gnu.so: built for CPython 3.13
_EXTENSION = re.compile(r"\.cpython-3(\d+)-[^/]*\.so$")
_MACHINES = {0x3E: "x86_64", 0xB7: "arm64"}  # e_machine, two bytes at 18 of an ELF file
_HOST = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
_UNIX = 3  # "version made by" of the ZIP format: the entry has a file mode
_unpacking = threading.Lock()


def check_zip(code: bytes, runtime: str, architecture: str) -> None:
    """Check that a zip can run; AWS notices only at the first import.

    Raises:
        AwsError: it is not a zip, is too large, has files that Lambda's user cannot read, or
            extensions for another Python or machine.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(code)) as archive:
            _check_size(archive)
            for entry in archive.infolist():
                name = entry.filename
                _check_mode(entry)
                _check_version(name, runtime)
                if name.endswith(".so"):
                    with archive.open(name) as file:
                        _check_machine(name, file.read(20), architecture)
    except zipfile.BadZipFile as error:
        raise _refuse(f"Could not unzip uploaded file: {error}") from error


def unpack_zip(code: bytes, digest: str, folder: Path) -> Path:
    """Unpack a zip once into a folder named by its digest, and return the folder."""
    home = folder / digest
    with _unpacking:
        if not home.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                made = Path(scratch) / "made"
                _extract(zipfile.ZipFile(io.BytesIO(code)), made)
                made.mkdir(exist_ok=True)  # a zip may be empty
                made.rename(home)
    return home


def _extract(archive: zipfile.ZipFile, folder: Path) -> None:
    """Unpack with the modes of the files, as Lambda does."""
    for entry in archive.infolist():
        path = Path(archive.extract(entry, folder))
        if _is_from_unix(entry) and not entry.is_dir():
            path.chmod(stat.S_IMODE(entry.external_attr >> 16) & 0o777 | stat.S_IWUSR)


def _check_mode(entry: zipfile.ZipInfo) -> None:
    """Refuse what Lambda's user could not read, which AWS reports only at the import.

    Lambda Developer Guide, "Working with .zip file archives for Python": 644 and 755.
    """
    mode = entry.external_attr >> 16
    if stat.S_ISLNK(mode):
        raise _refuse(f"{entry.filename} is a symbolic link, which localcloud does not imitate")
    needed = 0o005 if entry.is_dir() else 0o004
    if _is_from_unix(entry) and mode & needed != needed:
        raise _refuse(
            f"{entry.filename} has mode {stat.S_IMODE(mode):04o} in the zip, so Lambda's user "
            f"cannot read it; give it {'0755' if entry.is_dir() else '0644'}"
        )


def _is_from_unix(entry: zipfile.ZipInfo) -> bool:
    return entry.create_system == _UNIX


def _check_size(archive: zipfile.ZipFile) -> None:
    size = sum(entry.file_size for entry in archive.infolist())
    if size > _MAX_UNPACKED_BYTES:
        raise _refuse(f"Unzipped size must be smaller than {_MAX_UNPACKED_BYTES} bytes")


def _check_version(name: str, runtime: str) -> None:
    made_for = _EXTENSION.search(name)
    if made_for and f"python3.{made_for[1]}" != runtime:
        raise _refuse(
            f"{name} is built for Python 3.{made_for[1]}, but the function's runtime is {runtime}"
        )


def _check_machine(name: str, header: bytes, architecture: str) -> None:
    if not header.startswith(b"\x7fELF"):
        return
    number = int.from_bytes(header[18:20], "little")
    machine = _MACHINES.get(number, f"ELF machine {number}")
    if machine != architecture:
        raise _refuse(
            f"{name} is built for {machine}, but the function's architecture is {architecture}"
        )
    if machine != _HOST:
        raise _refuse(f"{name} is built for {machine}, but this machine is {_HOST}")


def _refuse(message: str) -> AwsError:
    return AwsError("InvalidParameterValueException", message)
