"""A file that cannot be read or written is a sentence with its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import OperationError
from penstock.operations import read_text, read_toml, write_text


def test_text_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"

    write_text(path, 'name = "Zürich"\n')

    assert read_text(path) == 'name = "Zürich"\n'
    assert read_toml(path) == {"name": "Zürich"}


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OperationError) as error:
        write_text(tmp_path / "no/a", "x")

    assert str(error.value) == f"{tmp_path}/no/a cannot be written: No such file or directory"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[", "is not TOML: Invalid initial character"),
        (b"\xff", "cannot be read: it is not text in UTF-8"),
        (b"a = " + b"[" * 100_000, "nests too deep to be read as TOML"),
        (None, "cannot be read: No such file or directory"),
    ],
    ids=["no TOML", "bytes", "deep", "no file"],
)
def test_a_file_of_toml_that_cannot_be_used(
    content: bytes | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.toml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(OperationError) as error:
        read_toml(path)

    assert str(error.value).startswith(f"{path} {said}")
