"""The files of a folder of schemas, on disk or in a commit of git, and what is wrong with them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from penstock.errors import OperationError

SUFFIX: Final = ".avsc"
_LINK_MODE: Final = "120000"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that makes a file unusable."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        """Return the place and the problem in one sentence."""
        return f"{self.path}, line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file: its path for messages, its content, and whether it is for parts of schemas."""

    path: str
    content: bytes
    is_type: bool


def check_folder(folder: Path) -> None:
    """Raise OperationError if there is no such folder."""
    if not folder.is_dir():
        raise OperationError(f"{folder} is no folder, expected one with {SUFFIX} files")


def read_folder(folder: Path) -> tuple[list[SourceFile], list[Problem]]:
    """Return the schema files below a folder.

    Raises:
        OperationError: see `check_folder`.
    """
    check_folder(folder)
    files: list[SourceFile] = []
    problems: list[Problem] = []
    for path in _walk(folder, problems):
        try:
            is_type = _is_type(path.relative_to(folder))
            files.append(SourceFile(str(path), path.read_bytes(), is_type))
        except OSError as error:
            reason = error.strerror or error
            problems.append(Problem(str(path), 1, f"the file cannot be read: {reason}"))
    return files, problems


def _is_type(path: Path) -> bool:
    """Return whether a file, by its path in the folder of schemas, is in a folder `types`."""
    return "types" in path.parts[:-1]


def _walk(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    """Yield the schema files in the order of their paths; a link to a folder is a problem."""

    def refuse(error: OSError) -> None:
        message = f"the folder cannot be read: {error.strerror}"
        problems.append(Problem(str(error.filename), 1, message))

    for where, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in folders:
            if (link := Path(where, name)).is_symlink():
                message = "found a symbolic link to a folder, expected the folder itself"
                problems.append(Problem(str(link), 1, message))
        yield from (Path(where, name) for name in sorted(names) if name.endswith(SUFFIX))


def read_commit(folder: Path, ref: str) -> tuple[list[SourceFile], list[Problem]]:
    """Return the schema files that the folder had in a commit; none if it had no such folder.

    Raises:
        OperationError: the folder is in no git repository, or that has no such commit.
    """
    _run_git(folder, ["rev-parse", "--git-dir"], f"{folder} is in no git repository")
    missing = (
        f"found no commit {ref!r} in the repository of {folder}; fetch it first, since the clone "
        "of a pipeline often has one commit only"
    )
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"]
    commit = _run_git(folder, words, missing).decode().strip()
    listed = _run_git(folder, ["ls-tree", "-r", "-z", commit], missing).decode(errors="replace")
    problems: list[Problem] = []
    blobs: list[tuple[str, str]] = []  # name and id
    for entry in filter(None, listed.split("\0")):
        (mode, _, blob), name = entry.partition("\t")[0].split(), entry.partition("\t")[2]
        shown = f"{ref}:{folder / name}"
        if not name.endswith(SUFFIX) or any(part.startswith(".") for part in Path(name).parts):
            continue
        if mode == _LINK_MODE:
            message = "found a symbolic link, expected the file itself"
            problems.append(Problem(shown, 1, message))
        else:
            blobs.append((name, blob))
    contents = _read_blobs(folder, [blob for _, blob in blobs])
    files = [
        SourceFile(f"{ref}:{folder / name}", next(contents), _is_type(Path(name)))
        for name, _ in blobs
    ]
    return files, problems


def _read_blobs(folder: Path, blobs: Sequence[str]) -> Iterator[bytes]:
    """Yield the contents of blobs, which one process of git reads."""
    given = "".join(f"{blob}\n" for blob in blobs).encode()
    output = _run_git(folder, ["cat-file", "--batch"], "git cannot read its objects", given)
    at = 0
    for _ in blobs:
        end = output.index(b"\n", at)
        size = int(output[at:end].split()[2])
        yield output[end + 1 : end + 1 + size]
        at = end + size + 2


def _run_git(folder: Path, words: Sequence[str], problem: str, given: bytes = b"") -> bytes:
    try:
        result = subprocess.run(
            ["git", "-C", str(folder), *words], input=given, capture_output=True, check=False
        )
    except OSError as error:
        raise OperationError(f"git cannot be run: {error.strerror}") from error
    if result.returncode:
        raise OperationError(problem)
    return result.stdout
