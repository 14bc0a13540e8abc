"""Files beside a checkpoint: whole or not there."""

from __future__ import annotations

import os
from pathlib import Path
from unittest.mock import Mock, patch

import pytest
from py4j.protocol import Py4JJavaError

from penstock.errors import CheckpointError
from penstock.spark.state.files import StateFiles


@pytest.fixture
def files(spark, tmp_path):
    return StateFiles(spark, f"file://{tmp_path}/state")


def test_nothing_is_there(files: StateFiles) -> None:
    assert files.names() == []
    assert files.read("a") is None


def test_what_was_written_is_read(files: StateFiles) -> None:
    files.write("b", "zwei\n")
    files.write("a", "ü" * 100_000)

    assert files.names() == ["a", "b"]
    assert files.read("a") == "ü" * 100_000


def test_the_first_text_stays(files: StateFiles) -> None:
    assert files.write("a", "first")
    assert not files.write("a", "second")

    assert files.read("a") == "first"
    assert files.names() == ["a"]


def test_half_a_file_is_none(files: StateFiles, tmp_path: Path) -> None:
    files.write("a", "whole")
    (tmp_path / "state" / ".b.123.tmp").write_text("ha")

    assert files.names() == ["a"]


def test_a_folder_that_is_a_file(spark, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")

    with pytest.raises(Py4JJavaError, match="exists and is not a directory"):
        StateFiles(spark, f"file://{tmp_path}/state").write("a", "text")


def test_a_failure_is_no_missing_file(files: StateFiles) -> None:
    with patch("penstock.spark.state.files._is", return_value=False):
        with pytest.raises(Py4JJavaError):
            files.read("a")
        with pytest.raises(Py4JJavaError):
            files.names()


def test_a_file_that_changed_since_it_was_written(files: StateFiles, tmp_path: Path) -> None:
    files.write("a", "whole")
    (tmp_path / "state" / "a").write_text("whale")

    with pytest.raises(CheckpointError, match=r"the file file:\S+/state/a is not as it was writ"):
        files.read("a")


def test_the_time_of_a_file_is_that_of_its_last_touch(files: StateFiles, tmp_path: Path) -> None:
    files.touch("a")
    os.utime(tmp_path / "state" / "a", (1, 1))
    assert files.times() == {"a": 1000}

    files.touch("a")
    assert files.times()["a"] > 1000
    assert files.read("a") == ""


def test_a_file_system_that_refuses(files: StateFiles) -> None:
    files._files = Mock(**{"exists.return_value": False, "rename.return_value": False})

    with pytest.raises(OSError, match=r"cannot write file:.*state/a: its file system refuses to"):
        files.write("a", "text")


def test_a_file_is_deleted_where_there_is_one(files: StateFiles) -> None:
    files.write("a", "text")

    files.delete("a")
    files.delete("a")

    assert files.names() == []
