"""What a checkpoint tells, read from what Spark itself wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.errors import CheckpointError
from penstock.spark.state.checkpoint import Checkpoint
from penstock.spark.state.schema_ledger import Ledger

_COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'
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
    (tmp_path / "commits").mkdir()
    (tmp_path / "commits" / "0").write_text(_COMMIT)
    return tmp_path


@pytest.fixture
def checkpoint(spark, folder: Path) -> Checkpoint:
    return Checkpoint(spark, f"file://{folder}")


def test_the_id_and_the_offsets_of_batches_are_read(checkpoint: Checkpoint) -> None:
    assert checkpoint.query_id() == "6a3c3d3e-0000-4000-8000-000000000000"
    assert checkpoint.starts(0) == {("sensor", 0): 5}
    assert checkpoint.ends(0) == checkpoint.starts(1) == {("sensor", 0): 7, ("sensor", 1): 3}
    assert checkpoint.ends(1) == {("sensor", 0): 9, ("sensor", 1): 3}


def test_how_far_was_read_is_what_is_over(checkpoint: Checkpoint, folder: Path) -> None:
    assert checkpoint.read_so_far() == {("sensor", 0): 7, ("sensor", 1): 3}

    (folder / "commits" / "0").unlink()

    assert checkpoint.read_so_far() == {}


def test_a_folder_without_a_checkpoint_is_not_one_that_nothing_was_read_by(
    spark, tmp_path: Path
) -> None:
    for folder in (tmp_path / "mistyped", tmp_path):  # not there, and nothing in it
        with pytest.raises(CheckpointError) as caught:
            Checkpoint(spark, f"file://{folder}").read_so_far()

        assert str(caught.value) == (
            f"found neither metadata nor commits in file://{folder}, expected the checkpoint of "
            "the job that consumes; give the folder that it has as --checkpoint, or start it first"
        )


def test_a_file_is_read_once_while_its_batch_is_taken(checkpoint: Checkpoint, folder: Path) -> None:
    checkpoint.batch_id(0)
    told = checkpoint.batch_id(1)
    for name in ("0", "1"):
        (folder / "offsets" / name).unlink()

    assert checkpoint.batch_id(1) == told
    assert checkpoint.starts(1) == {("sensor", 0): 7, ("sensor", 1): 3}


def test_a_missing_file(checkpoint: Checkpoint) -> None:
    with pytest.raises(
        CheckpointError, match=r"^the file offsets/7 of the checkpoint .* is missing; res"
    ):
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


def test_the_next_batch_is_the_first_without_a_commit(
    checkpoint: Checkpoint, folder: Path, spark, tmp_path: Path
) -> None:
    assert checkpoint.check() == 1
    (folder / "commits" / "1").write_text(_COMMIT)
    assert checkpoint.check() == 2
    (folder / "offsets" / "2").write_text(_OFFSETS.replace("7", "11"))
    assert checkpoint.check() == 2
    assert Checkpoint(spark, f"file://{tmp_path}/new").check() == 0


def test_a_batch_whose_commit_is_missing_comes_again(checkpoint: Checkpoint, folder: Path) -> None:
    (folder / "commits" / "0").unlink()

    assert checkpoint.check() == 1


@pytest.mark.parametrize("name", ["metadata", "offsets/1", "offsets/0", "commits/0", "sources/0/0"])
@pytest.mark.parametrize("damage", ["empty", "truncated", "missing"])
def test_damage_is_found_before_the_start(
    checkpoint: Checkpoint, folder: Path, name: str, damage: str
) -> None:
    """Each file that is needed, each damage: what is wrong with which, and what to do."""
    if name == "sources/0/0":  # needed for the first batch alone
        (folder / "offsets" / "1").unlink()
        (folder / "commits" / "0").unlink()
    path = folder / name
    found = {"empty": "is empty, expected", "truncated": "ends in '", "missing": "is missing"}
    match damage:
        case "empty":
            path.write_text("")
        case "truncated":
            path.write_text(path.read_text()[:-2])
        case _:
            path.unlink()
            if name == "commits/0":  # that is how each crash leaves it
                assert checkpoint.check() == 1
                return
            if name == "offsets/1":  # and so before it was planned; with a commit it cannot be
                assert checkpoint.check() == 1
                (folder / "commits" / "1").write_text(_COMMIT)

    with pytest.raises(
        CheckpointError,
        match=rf"^the file {name} of the checkpoint file:\S+ {found[damage]}.*; restore it from a "
        "copy, or begin with a new checkpoint and --starting at offsets before which the tables "
        "lack no record$",
    ):
        checkpoint.check()


@pytest.mark.parametrize("name", ["metadata", "sources/0/0"])
def test_damage_before_the_first_batch(checkpoint: Checkpoint, folder: Path, name: str) -> None:
    for each in ("offsets/0", "offsets/1", "commits/0"):
        (folder / each).unlink()
    assert checkpoint.check() == 0
    (folder / name).write_text("")

    with pytest.raises(CheckpointError, match=f"the file {name} .* is empty, expected"):
        checkpoint.check()


def test_a_schema_ledger_is_there_from_the_first_start_on(
    checkpoint: Checkpoint, folder: Path, spark, tmp_path: Path
) -> None:
    with pytest.raises(CheckpointError) as caught:
        checkpoint.check_ledger()

    assert str(caught.value) == (
        f"the schema ledger file://{folder}/penstock-ledger is missing, expected the versions of "
        f"the batches in file://{folder}/offsets; restore it from a copy, or begin with a new "
        "checkpoint and --starting at offsets before which the tables lack no record"
    )
    new = Checkpoint(spark, f"file://{tmp_path}/new")
    new.check_ledger()
    (folder / "offsets").rename(tmp_path / "new" / "offsets")  # no batch had a version so far
    new.check_ledger()
    assert Ledger(spark, new.ledger, 2).before(2) == ()


def test_totals_keep_their_key_from_the_first_batch_on(
    checkpoint: Checkpoint, folder: Path, spark, tmp_path: Path
) -> None:
    checkpoint.check_key("country")  # that of an older version did not keep it
    checkpoint.check_key("country")
    with pytest.raises(CheckpointError) as caught:
        checkpoint.check_key("region")

    assert str(caught.value) == (
        f"the checkpoint file://{folder} has totals by country, found --by region, expected "
        "country; give that again, or another folder as --checkpoint"
    )
    new = Checkpoint(spark, f"file://{tmp_path}/new")
    for key in ("country", "region"):
        new.check_key(key)  # nothing is summed up yet


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
