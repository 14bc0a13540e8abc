"""A driver that stalls in the middle of an append writes no row a second time when it wakes."""

from __future__ import annotations

import pytest

from penstock.errors import CheckpointInUseError, LakeHistoryError, SinkUnavailableError
from penstock.spark.lake.iceberg import IcebergTable
from penstock.spark.sinks.iceberg import Lake, ReplayedLake
from tests.spark.lakes import make_rows, part


class Fence:
    """Calls what others do while the driver stalls, between its append and the publication."""

    fence = 7

    def __init__(self, meanwhile):
        self._meanwhile = meanwhile

    def check(self):
        self._meanwhile()


@pytest.fixture
def stall(spark, reader):
    """The lake of a driver that stalls while others do something."""

    def build(meanwhile):
        return Lake(spark, reader.name.removeprefix("lake."), fence=Fence(meanwhile))

    return build


def test_a_part_that_another_driver_wrote_meanwhile_is_there_once(spark, reader, stall):
    rows = make_rows(spark, "n int", (1,), (2,))
    reader.lake.write(make_rows(spark, "n int", (0,)), part(0, 0))

    stalled = stall(lambda: reader.again().write(rows, part(1, 0)))
    with pytest.raises(CheckpointInUseError, match=(
        rf"^another job wrote part 0 of batch 1 of query q to {reader.name} meanwhile; it is there "
        "once, and nothing more is written$"
    )):  # fmt: skip
        stalled.write(rows, part(1, 0))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(0,), (1,), (2,)]


def test_the_first_part_of_a_table_is_fenced_too(spark, reader, stall):
    rows = make_rows(spark, "n int", (1,))

    with pytest.raises(CheckpointInUseError):
        stall(lambda: reader.again().write(rows, part(0, 0))).write(rows, part(0, 0))

    assert reader.query("SELECT n FROM t") == [(1,)]


def test_commits_of_others_meanwhile_hide_no_marker(spark, reader, stall):
    """Behind the commit of another query Iceberg publishes a copy, which has no marker of ours."""
    other = make_rows(spark, "n int", (9,), first=9)
    rows = make_rows(spark, "n int", (1,))

    stall(lambda: reader.again().write(other, part(0, 0, query="r"))).write(rows, part(0, 0))
    for _ in range(2):
        reader.again().write(rows, part(0, 0))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (9,)]


def test_other_offsets_are_refused_behind_commits_of_others_too(spark, reader, stall):
    other = make_rows(spark, "n int", (9,), first=9)
    rows = make_rows(spark, "n int", (1,))
    stalled = stall(lambda: reader.again().write(other, part(0, 0, query="r")))
    stalled.write(rows, part(0, 0, "to 1"))
    more = make_rows(spark, "n int", (1,), (2,))

    with pytest.raises(LakeHistoryError, match=r"the checkpoint says to 2, .* expected the same"):
        reader.again().write(more, part(0, 0, "to 2"))

    reader.again().write(rows, part(0, 0, "to 1"))
    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (9,)]


@pytest.mark.parametrize("behind", [False, True], ids=["as it is staged", "as a copy"])
def test_a_commit_whose_answer_was_lost_counts_as_done(spark, reader, stall, monkeypatch, behind):
    publish = IcebergTable.publish

    def publish_again(table, key, text):
        assert publish(table, key, text)
        return publish(table, key, text)

    def write_first():
        if behind:
            other = make_rows(spark, "n int", (9,), first=9)
            reader.again().write(other, part(0, 0, query="r"))

    monkeypatch.setattr(IcebergTable, "publish", publish_again)
    stall(write_first).write(make_rows(spark, "n int", (1,)), part(0, 0))

    assert reader.query("SELECT n FROM t ORDER BY n") == ([(1,), (9,)] if behind else [(1,)])


def test_a_part_that_was_staged_and_not_published_is_written(spark, reader, stall):
    def die():
        raise CheckpointInUseError("this job has lost the lease")

    rows = make_rows(spark, "n int", (1,))
    for number in range(2):
        with pytest.raises(CheckpointInUseError, match="this job has lost the lease"):
            stall(die).write(rows, part(number, 0))
        reader.again().write(rows, part(number, 0))

    assert reader.query("SELECT n FROM t") == [(1,), (1,)]
    assert spark.conf.get("spark.wap.id", "none") == "none"


def test_staged_rows_that_expired_in_a_stall_are_written_again(spark, reader, stall):
    """Somebody expires all snapshots but the last while a driver stalls for days."""
    rows = make_rows(spark, "n int", (1,))
    reader.lake.write(make_rows(spark, "n int", (0,)), part(0, 0))

    stalled = stall(lambda: reader.table().expire(2**62))
    with pytest.raises(SinkUnavailableError, match="expired before they were published"):
        stalled.write(rows, part(1, 0))
    reader.again().write(rows, part(1, 0))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(0,), (1,)]


def test_a_replay_that_lost_its_lease_during_an_append_publishes_nothing(spark, reader, stall):
    rows = make_rows(spark, "n int", (1,))

    def take_over():
        ReplayedLake(reader.again()).write(rows, part(0, 0, query="second"))
        raise CheckpointInUseError("this job has lost the lease")

    reader.lake.write(make_rows(spark, "n int", (0,), first=5), part(0, 0))
    with pytest.raises(CheckpointInUseError, match="this job has lost the lease"):
        ReplayedLake(stall(take_over)).write(rows, part(0, 0, query="first"))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(0,), (1,)]


def test_a_replay_that_stalled_after_the_check_writes_no_row_twice(spark, reader, stall):
    rows = make_rows(spark, "n int", (1,), (2,))

    def take_over():
        ReplayedLake(reader.again()).write(rows, part(0, 0, query="second"))

    with pytest.raises(CheckpointInUseError, match="it is there once, and nothing more is written"):
        ReplayedLake(stall(take_over)).write(rows, part(0, 0, query="first"))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,)]


def test_a_replay_that_stalled_during_a_widening_writes_no_row_twice(spark, reader, stall):
    """The other replay publishes fewer of the same records: the column is a double by then."""
    reader.lake.write(make_rows(spark, "x bigint", (1,)), part(0, 0))
    rows = make_rows(spark, "x bigint", (2,), (2**53 + 1,), first=1)

    def widen_and_take_over():
        wide = make_rows(spark, "x double", (0.5,), first=3)
        reader.again().write(wide, part(0, 0, query="other"))
        ReplayedLake(reader.again()).write(rows, part(0, 0, query="second"))

    with pytest.raises(CheckpointInUseError, match="it is there once, and nothing more is written"):
        ReplayedLake(stall(widen_and_take_over)).write(rows, part(0, 0, query="first"))

    found = reader.query("SELECT _offset, x FROM t ORDER BY _offset")
    assert found == [(0, 1.0), (1, 2.0), (3, 0.5)]


def test_a_table_of_before_the_fence_is_fenced(spark, reader, stall):
    rows = make_rows(spark, "n int", (1,))
    reader.lake.write(rows, part(0, 0))
    spark.sql(f"ALTER TABLE {reader.name} UNSET TBLPROPERTIES ('write.wap.enabled')")

    with pytest.raises(CheckpointInUseError):
        stall(lambda: reader.again().write(rows, part(1, 0))).write(rows, part(1, 0))

    assert reader.query("SELECT count(*) FROM t") == [(2,)]
    assert reader.table().properties()["write.wap.enabled"] == "true"
