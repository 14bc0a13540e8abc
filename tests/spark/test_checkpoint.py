"""What a checkpoint tells, read from what Spark itself wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.errors import CheckpointError
from penstock.spark import Checkpoint

_OFFSETS = 'v1\n{"batchWatermarkMs":0}\n{"sensor":{"0":7,"1":3}}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint of two batches, as Spark 4.1 writes it for Kafka."""
    (tmp_path / "offsets").mkdir()
    (tmp_path / "sources" / "0").mkdir(parents=True)
    (tmp_path / "metadata").write_text('{"id":"6a3c3d3e-0000-4000-8000-000000000000"}')
    (tmp_path / "sources" / "0" / "0").write_text('\0v1\n{"sensor":{"0":5}}')
    (tmp_path / "offsets" / "0").write_text(_OFFSETS)
    (tmp_path / "offsets" / "1").write_text(_OFFSETS.replace("7", "9"))
    return tmp_path


@pytest.fixture
def checkpoint(spark, folder: Path) -> Checkpoint:
    return Checkpoint(spark, f"file://{folder}")


def test_what_it_tells(checkpoint: Checkpoint) -> None:
    assert checkpoint.query_id() == "6a3c3d3e-0000-4000-8000-000000000000"
    assert checkpoint.starts(0) == {("sensor", 0): 5}
    assert checkpoint.ends(0) == checkpoint.starts(1) == {("sensor", 0): 7, ("sensor", 1): 3}
    assert checkpoint.ends(1) == {("sensor", 0): 9, ("sensor", 1): 3}


def test_a_file_is_read_once_while_its_batch_is_taken(checkpoint: Checkpoint, folder: Path) -> None:
    checkpoint.batch_id(0)
    told = checkpoint.batch_id(1)
    for name in ("0", "1"):
        (folder / "offsets" / name).unlink()

    assert checkpoint.batch_id(1) == told
    assert checkpoint.starts(1) == {("sensor", 0): 7, ("sensor", 1): 3}


def test_a_missing_file(checkpoint: Checkpoint) -> None:
    with pytest.raises(CheckpointError, match=r"^the file 7 of the checkpoint .* is missing; rest"):
        checkpoint.ends(7)


@pytest.mark.parametrize("text", ["", "v1", "v1\n{}\n{", "v1\n{}\n-", 'v1\n{}\n{"sensor":5}'])
def test_a_damaged_file(checkpoint: Checkpoint, folder: Path, text: str) -> None:
    (folder / "offsets" / "1").write_text(text)

    with pytest.raises(CheckpointError, match="expected offsets; restore it from a copy"):
        checkpoint.ends(1)


@pytest.mark.parametrize("text", ["", "{}", "[]", "{"])
def test_damaged_metadata(checkpoint: Checkpoint, folder: Path, text: str) -> None:
    (folder / "metadata").write_text(text)

    with pytest.raises(CheckpointError, match="expected the id of a query; restore it"):
        checkpoint.query_id()


def test_the_files_are_those_that_spark_writes(spark, tmp_path: Path) -> None:
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    query = (
        stream.writeStream.format("noop")
        .option("checkpointLocation", f"file://{tmp_path}/c")
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(60)

    assert Checkpoint(spark, f"file://{tmp_path}/c").query_id() == str(query.id)
    lines = (tmp_path / "c" / "offsets" / "0").read_text().splitlines()
    assert lines[0] == "v1"
    assert json.loads(lines[1])
    assert len(lines) == 3
