"""The lake has every row once, whatever comes again and whoever else writes."""

from __future__ import annotations

import secrets

import pytest
from pyspark.sql import functions as F

from penstock.attempts import Attempts
from penstock.errors import LakeHistoryError, Reason, SettingsError, SinkUnavailableError
from penstock.spark.lake.iceberg import IcebergTable
from penstock.spark.sinks.iceberg import Lake, ReplayedLake
from penstock.tables import Column, Growth, NewColumn
from tests.spark.lakes import make_rows, part
from tests.spark.sinks import FileErrors


def test_a_batch_that_comes_again_is_not_written_again(spark, reader):
    for number in range(3):
        rows = make_rows(spark, "n int", (number,), first=number)
        reader.lake.write(rows, part(number, 0))
    for _ in range(2):
        reader.again().write(make_rows(spark, "n int", (2,), first=2), part(2, 0))
    reader.again().write(make_rows(spark, "n int", (3,), first=3), part(3, 0))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(0,), (1,), (2,), (3,)]


def test_missing_parts_of_a_batch_are_written(spark, reader):
    reader.lake.write(make_rows(spark, "n int", (0,)), part(0, 0))
    # Killed here: the version of the next record was new, and its part is not there.
    for _ in range(2):
        reader.again().write(make_rows(spark, "n int", (0,)), part(0, 0))
        grown = make_rows(spark, "n int, m string", (1, "new"), first=1)
        reader.again().write(grown, part(0, 1))

    assert reader.query("SELECT n, m FROM t ORDER BY n") == [(0, None), (1, "new")]


def test_replayed_rows_that_exist_are_left_out(spark, reader):
    old = make_rows(spark, "n int", (1,), (2,))
    later = F.col("_kafka_timestamp") + F.expr("INTERVAL 1 MILLISECOND")
    of_a_topic_made_anew = make_rows(spark, "n int", (3,)).withColumn("_kafka_timestamp", later)
    reader.lake.write(old.limit(1), part(0, 0))

    for rows in (old, of_a_topic_made_anew, old, of_a_topic_made_anew):
        ReplayedLake(reader.again()).write(rows, part(0, 0, query="replay"))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,), (3,)]


def test_a_replayed_row_that_the_table_cannot_hold_is_a_dead_letter_each_time(
    spark, reader, tmp_path
):
    reader.lake.write(make_rows(spark, "x double", (0.5,)), part(0, 0))
    lake = Lake(spark, reader.name.removeprefix("lake."), errors=FileErrors(tmp_path))
    rows = make_rows(spark, "x bigint", (2,), (2**53 + 1,), first=1)

    for number in range(3):
        dead_letters = ReplayedLake(lake).write(rows, part(number, 0, query="replay"))
        assert dead_letters == {Reason.LOSSY_WIDENING: 1}

    assert reader.query("SELECT _offset, x FROM t ORDER BY _offset") == [(0, 0.5), (1, 2.0)]
    assert reader.table().count_snapshots() == 2  # a replay without rows adds none


def test_a_part_without_rows_is_known_too(spark, reader):
    empty = make_rows(spark, "n int", (1,)).limit(0)
    reader.lake.write(empty, part(0, 0))
    reader.again().write(make_rows(spark, "n int", (1,)), part(0, 0))

    assert reader.query("SELECT count(*) FROM t") == [(0,)]


def test_a_part_that_had_no_rows_is_not_written_behind_a_later_one(spark, reader):
    """The first start knew the table for one without rows, and left the part out."""
    reader.lake.write(make_rows(spark, "n int", (0,)), part(0, 0))
    rows = make_rows(spark, "n int", (1,), first=1)
    reader.lake.write(rows, part(1, 2))
    for _ in range(2):
        reader.again().write(rows.limit(0), part(1, 0))
        reader.again().write(rows, part(1, 2))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(0,), (1,)]
    assert reader.table().count_snapshots() == 2


def test_commits_of_others_on_top_change_nothing(spark, reader):
    reader.lake.write(make_rows(spark, "n int", (1,), (2,)), part(0, 0))
    reader.lake.write(make_rows(spark, "n int", (7,), first=9), part(5, 0, query="other"))
    spark.sql(f"DELETE FROM {reader.name} WHERE n = 2")
    reader.again().write(make_rows(spark, "n int", (1,), (2,)), part(0, 0))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (7,)]


def _expire_all_but_the_last(reader):
    """What somebody does who knows nothing of markers."""
    table = reader.table()._table
    table.expireSnapshots().expireOlderThan(2**62).retainLast(1).commit()


def test_a_marker_that_expired_stops_the_job_until_somebody_has_looked(spark, reader):
    rows = make_rows(spark, "n int", (1,))
    reader.lake.write(rows, part(0, 0))
    spark.sql(f"DELETE FROM {reader.name} WHERE n = 5")
    reader.lake.write(make_rows(spark, "n int", (7,), first=9), part(0, 0, query="other"))
    _expire_all_but_the_last(reader)

    with pytest.raises(LakeHistoryError, match="cannot determine") as caught:
        reader.again().write(rows, part(0, 0, '{"t":{"0":1}}'))

    said = str(caught.value)
    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (7,)]
    assert 'Look for rows of the batch\'s offsets {"t":{"0":1}}' in said
    # What the sentence says to do for a batch that is there.
    spark.sql(said[said.rindex("ALTER TABLE") :])
    reader.again().write(rows, part(0, 0))
    reader.again().write(make_rows(spark, "n int", (2,), first=1), part(1, 0))
    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,), (7,)]


def test_after_the_sentence_for_a_batch_that_is_missing_it_is_written(spark, reader):
    reader.lake.write(make_rows(spark, "n int", (1,)), part(0, 0))
    reader.lake.write(make_rows(spark, "n int", (7,), first=9), part(0, 0, query="other"))
    _expire_all_but_the_last(reader)
    with pytest.raises(LakeHistoryError) as caught:
        reader.again().write(make_rows(spark, "n int", (2,), first=1), part(1, 0))
    said = str(caught.value)
    spark.sql(said[said.index("ALTER TABLE") : said.index("; if all")])

    reader.again().write(make_rows(spark, "n int", (2,), first=1), part(1, 0))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,), (7,)]


def test_a_table_whose_history_cannot_be_relied_on_is_refused(spark, reader):
    spark.sql(
        f"CREATE TABLE {reader.name} (n int) USING iceberg TBLPROPERTIES ('format-version' = '1', "
        "'history.expire.max-snapshot-age-ms' = '3600000', "
        "'vacuum_max_snapshot_age_seconds' = '86399')"
    )

    with pytest.raises(SettingsError) as caught:
        reader.lake.write(make_rows(spark, "n int", (1,)), part(0, 0))

    assert caught.value.problems == (
        f"{reader.name} keeps snapshots for 1 h (history.expire.max-snapshot-age-ms), expected "
        "24 h or more: they say which batches it has",
        f"{reader.name} keeps snapshots for 23.9997 h (vacuum_max_snapshot_age_seconds), expected "
        "24 h or more: they say which batches it has",
        f"{reader.name} is of Iceberg's format 1, expected 2, which counts commits",
    )


def test_columns_that_others_never_let_us_change_are_given_up(spark, reader):
    reader.lake._open(spark)
    attempts = Attempts(first_seconds=0.01, longest_seconds=0.01, total_seconds=0.03)
    table = IcebergTable(spark, reader.name, attempts=attempts)

    def plan(_):
        reader.table().set_properties({"other": secrets.token_hex(4)})
        return Growth(added=(NewColumn(None, Column("n", "int")),))

    with pytest.raises(SinkUnavailableError, match=r"could not be changed for 0.03 s: each time"):
        table.grow(plan)


def test_a_commit_that_lost_the_race_is_tried_again(spark, reader, monkeypatch):
    """Another query commits between the look at the history and the append."""
    reader.lake.write(make_rows(spark, "n int", (1,)), part(0, 0))
    project = reader.lake._project

    def project_late(*arguments):
        other = make_rows(spark, "n int", (7,), first=9)
        monkeypatch.setattr(reader.lake, "_project", project)
        reader.again().write(other, part(0, 0, query="other"))
        return project(*arguments)

    monkeypatch.setattr(reader.lake, "_project", project_late)
    reader.lake.write(make_rows(spark, "n int", (2,), first=1), part(1, 0))

    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,), (7,)]
