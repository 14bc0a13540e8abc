"""The lake has every row once, whatever comes again, and under one name, whatever becomes wider."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql.types import IntegerType, StructField

from penstock.attempts import Attempts
from penstock.errors import (
    LakeHistoryError,
    SchemaConflictError,
    SettingsError,
    SinkUnavailableError,
)
from penstock.spark import Lake
from penstock.spark._iceberg import IcebergTable
from penstock.spark._table_columns import Growth, NewColumn
from tests.spark.lakes import NOON, NOON_MS, batch, make_rows


def test_a_table_is_made_with_the_first_batch(spark, reader):
    rows = make_rows(
        spark, "deviceId string, timestamp bigint", ("a", NOON_MS - 86_400_000), ("b", None)
    )

    assert reader.lake.write(rows, batch(0), 0) == {}

    yesterday = datetime(2026, 11, 20, 12, tzinfo=UTC)
    assert reader.query(
        "SELECT deviceId, epoch_ms(_event_time), _topic, _kafka_partition, _offset, "
        "epoch_ms(_kafka_timestamp), _schema_id, _schema_version FROM t ORDER BY _offset"
    ) == [
        ("a", int(yesterday.timestamp()) * 1000, "t", 0, 0, NOON_MS, "id", 1),
        ("b", NOON_MS, "t", 0, 1, NOON_MS, "id", 1),
    ]
    days = spark.sql(f"SELECT partition._event_time_day FROM {reader.name}.partitions").collect()
    assert {str(row[0]) for row in days} == {"2026-11-20", "2026-11-21"}


def test_new_fields_are_columns_before_the_batch_that_has_them(spark, reader):
    reader.lake.write(make_rows(spark, "a int", (1,)), batch(0), 0)
    reader.lake.write(
        make_rows(spark, "s struct<x: int>, a bigint", ((5,), 2**40), first=1), batch(1), 0
    )
    reader.lake.write(
        make_rows(spark, "a int, s struct<y: string, x: int>", (3, ("z", 6)), first=2), batch(2), 0
    )

    assert reader.query("SELECT a, s.x, s.y FROM t ORDER BY _offset") == [
        (1, None, None),
        (2**40, 5, None),
        (3, 6, "z"),
    ]


def test_names_that_differ_in_case_and_names_of_ours_are_columns_too(spark, reader):
    columns = "Temp double, temp double, _topic string, s struct<A: int, a: int>"
    reader.lake.write(make_rows(spark, columns, (1.5, 2.5, "mine", (1, 2))), batch(0), 0)
    again = "s struct<a: int, A: int>, temp double, Temp double"
    reader.lake.write(make_rows(spark, again, ((3, 4), 5.5, 6.5), first=1), batch(1), 0)

    found = reader.query("SELECT Temp, temp_2, event_topic, s.A, s.a_2 FROM t ORDER BY _offset")
    assert found == [(1.5, 2.5, "mine", 1, 2), (6.5, 5.5, None, 4, 3)]


# --- a batch that comes again ---------------------------------------------------------------


def test_a_batch_that_comes_again_is_not_written_again(spark, reader):
    for number in range(3):
        rows = make_rows(spark, "n int", (number,), first=number)
        reader.lake.write(rows, batch(number), 0)
    for _ in range(2):
        reader.again().write(make_rows(spark, "n int", (2,), first=2), batch(2), 0)
    reader.again().write(make_rows(spark, "n int", (3,), first=3), batch(3), 0)

    assert reader.query("SELECT n FROM t ORDER BY n") == [(0,), (1,), (2,), (3,)]


def test_of_a_batch_in_parts_what_is_missing_is_written(spark, reader):
    reader.lake.write(make_rows(spark, "n int", (0,)), batch(0), 0)
    # Killed here: the version of the next record was new, and its part is not there.
    for _ in range(2):
        reader.again().write(make_rows(spark, "n int", (0,)), batch(0), 0)
        grown = make_rows(spark, "n int, m string", (1, "new"), first=1)
        reader.again().write(grown, batch(0), 1)

    assert reader.query("SELECT n, m FROM t ORDER BY n") == [(0, None), (1, "new")]


def test_a_part_without_rows_is_known_too(spark, reader):
    empty = make_rows(spark, "n int", (1,)).limit(0)
    reader.lake.write(empty, batch(0), 0)
    reader.again().write(make_rows(spark, "n int", (1,)), batch(0), 0)

    assert reader.query("SELECT count(*) FROM t") == [(0,)]


def test_commits_of_others_on_top_change_nothing(spark, reader):
    reader.lake.write(make_rows(spark, "n int", (1,), (2,)), batch(0), 0)
    reader.lake.write(make_rows(spark, "n int", (7,), first=9), batch(5, query="other"), 0)
    spark.sql(f"DELETE FROM {reader.name} WHERE n = 2")
    reader.again().write(make_rows(spark, "n int", (1,), (2,)), batch(0), 0)

    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (7,)]


def _expire_all_but_the_last(reader):
    """What somebody does who knows nothing of markers."""
    table = reader.table()._table
    table.expireSnapshots().expireOlderThan(2**62).retainLast(1).commit()


def test_a_marker_that_expired_stops_the_job_until_somebody_has_looked(spark, reader):
    rows = make_rows(spark, "n int", (1,))
    reader.lake.write(rows, batch(0), 0)
    spark.sql(f"DELETE FROM {reader.name} WHERE n = 5")
    reader.lake.write(make_rows(spark, "n int", (7,), first=9), batch(0, query="other"), 0)
    _expire_all_but_the_last(reader)

    with pytest.raises(LakeHistoryError, match="cannot be told") as caught:
        reader.again().write(rows, batch(0, '{"t":{"0":1}}'), 0)

    said = str(caught.value)
    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (7,)]
    assert 'has rows of the batch\'s offsets {"t":{"0":1}}' in said
    # What the sentence says to do for a batch that is there.
    spark.sql(said[said.rindex("ALTER TABLE") :])
    reader.again().write(rows, batch(0), 0)
    reader.again().write(make_rows(spark, "n int", (2,), first=1), batch(1), 0)
    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,), (7,)]


def test_after_the_sentence_for_a_batch_that_is_missing_it_is_written(spark, reader):
    reader.lake.write(make_rows(spark, "n int", (1,)), batch(0), 0)
    reader.lake.write(make_rows(spark, "n int", (7,), first=9), batch(0, query="other"), 0)
    _expire_all_but_the_last(reader)
    with pytest.raises(LakeHistoryError) as caught:
        reader.again().write(make_rows(spark, "n int", (2,), first=1), batch(1), 0)
    said = str(caught.value)
    spark.sql(said[said.index("ALTER TABLE") : said.index(", else")])

    reader.again().write(make_rows(spark, "n int", (2,), first=1), batch(1), 0)

    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,), (7,)]


def test_a_table_whose_history_cannot_be_relied_on_is_refused(spark, reader):
    spark.sql(
        f"CREATE TABLE {reader.name} (n int) USING iceberg TBLPROPERTIES ('format-version' = '1', "
        "'history.expire.max-snapshot-age-ms' = '3600000', "
        "'vacuum_max_snapshot_age_seconds' = '86399')"
    )

    with pytest.raises(SettingsError) as caught:
        reader.lake.write(make_rows(spark, "n int", (1,)), batch(0), 0)

    assert caught.value.problems == (
        f"{reader.name} keeps snapshots for 1 h (history.expire.max-snapshot-age-ms), expected "
        "24 h or more: they say which batches it has",
        f"{reader.name} keeps snapshots for 23.9997 h (vacuum_max_snapshot_age_seconds), expected "
        "24 h or more: they say which batches it has",
        f"{reader.name} is of Iceberg's format 1, expected 2, which counts commits",
    )


def test_columns_that_others_never_let_us_change_are_given_up(spark, reader):
    reader.lake._open()
    attempts = Attempts(first_seconds=0.01, longest_seconds=0.01, total_seconds=0.03)
    table = IcebergTable(spark, reader.name, attempts=attempts)

    def plan(_):
        reader.table().set_properties({"other": secrets.token_hex(4)})
        return Growth(added=(NewColumn(None, StructField("n", IntegerType())),))

    with pytest.raises(SinkUnavailableError, match=r"could not be changed for 0.03 s: each time"):
        table.grow(plan)


def test_a_commit_that_lost_the_race_is_tried_again(spark, reader, monkeypatch):
    """Another query commits between the look at the history and the append."""
    reader.lake.write(make_rows(spark, "n int", (1,)), batch(0), 0)
    project = reader.lake._project

    def project_late(*arguments):
        other = make_rows(spark, "n int", (7,), first=9)
        monkeypatch.setattr(reader.lake, "_project", project)
        reader.again().write(other, batch(0, query="other"), 0)
        return project(*arguments)

    monkeypatch.setattr(reader.lake, "_project", project_late)
    reader.lake.write(make_rows(spark, "n int", (2,), first=1), batch(1), 0)

    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,), (7,)]


# --- what Iceberg cannot widen --------------------------------------------------------------


def test_whole_numbers_that_become_doubles_stay_under_their_name(spark, reader):
    beyond = 2**53 + 1
    reader.lake.write(make_rows(spark, "x bigint", (1,), (None,), (beyond,)), batch(0), 0)
    reader.lake.write(make_rows(spark, "x double", (0.5,), first=3), batch(1), 0)

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(1.0,), (None,), (None,), (0.5,)]
    assert reader.query("SELECT x, _before_1_x FROM t WHERE x IS NULL ORDER BY _offset") == [
        (None, None),
        (None, beyond),
    ]
    reader.again().write(make_rows(spark, "x double", (0.5,), first=3), batch(1), 0)
    assert reader.query("SELECT count(*), sum(x) FROM t") == [(4, 1.5)]


def test_whole_numbers_inside_of_something_become_doubles(spark, reader):
    columns = "list array<bigint>, s struct<a: bigint, b: string>, m map<string, struct<n: int>>"
    event = ([1, None], (2, "b"), {"k": (3,)})
    reader.lake.write(make_rows(spark, columns, event, (None, None, None)), batch(0), 0)
    wider = (
        "list array<double>, s struct<b: string, c: int, a: double>, "
        "m map<string, struct<n: double>>"
    )
    event = ([0.5], ("c", 1, 2.5), {"k": (3.5,)})
    reader.lake.write(make_rows(spark, wider, event, first=2), batch(1), 0)

    found = reader.query("SELECT list, s.a, s.b, s.c, m['k'].n FROM t ORDER BY _offset")
    assert found == [
        ([1.0, None], 2.0, "b", None, 3.0),
        (None, None, None, None, None),
        ([0.5], 2.5, "c", 1, 3.5),
    ]


@pytest.mark.parametrize("step", ["rename", "describe"])
def test_a_widening_that_was_killed_is_made_up_for(spark, reader, monkeypatch, step):
    class KilledError(Exception):
        """What stands for kill -9."""

    def die(*_):
        raise KilledError

    reader.lake.write(make_rows(spark, "x bigint", (1,)), batch(0), 0)
    rows = make_rows(spark, "x double", (0.5,), first=1)
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(f"penstock.spark._iceberg.IcebergTable.{step}", die)
        reader.lake.write(rows, batch(1), 0)
    assert reader.query("SELECT x FROM t") == [(1,)]

    reader.again().write(rows, batch(1), 0)

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(1.0,), (0.5,)]
    assert [name for name in reader.table().schema().names if name.startswith("_next_")] == []


def test_what_others_write_while_a_column_is_made_anew_is_there_too(spark, reader, monkeypatch):
    reader.lake.write(make_rows(spark, "x bigint", (1,)), batch(0), 0)
    rename = reader.lake._table.rename

    def rename_late(names):
        reader.again().write(make_rows(spark, "x bigint", (2,), first=9), batch(0, "", "other"), 0)
        rename(names)

    monkeypatch.setattr(reader.lake._table, "rename", rename_late)
    reader.lake.write(make_rows(spark, "x double", (0.5,), first=1), batch(1), 0)

    assert reader.query("SELECT x FROM t ORDER BY x") == [(0.5,), (1.0,), (2.0,)]


def test_a_whole_number_that_a_double_column_would_round_stops_the_batch(spark, reader):
    reader.lake.write(make_rows(spark, "x double", (0.5,)), batch(0), 0)
    reader.lake.write(make_rows(spark, "x bigint", (2,), (None,), first=1), batch(1), 0)

    with pytest.raises(Exception, match="found 9007199254740993, expected a whole number within"):
        reader.lake.write(make_rows(spark, "x bigint", (2**53 + 1,), first=3), batch(2), 0)

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(0.5,), (2.0,), (None,)]


def test_a_contradiction_writes_nothing(spark, reader):
    reader.lake.write(make_rows(spark, "x bigint", (1,)), batch(0), 0)

    with pytest.raises(
        SchemaConflictError, match="x: the column is bigint and the records have stri"
    ):
        reader.lake.write(make_rows(spark, "x string", ("a",), first=1), batch(1), 0)

    assert reader.query("SELECT x FROM t") == [(1,)]
    assert reader.table().schema()["x"].dataType.simpleString() == "bigint"


def test_a_time_that_is_none_is_kafkas(spark, reader):
    times = [(-1,), (10**13,), (2**63 - 1,), (None,)]
    reader.lake.write(make_rows(spark, "timestamp bigint", *times), batch(0), 0)

    assert reader.query("SELECT DISTINCT epoch_ms(_event_time) FROM t") == [(NOON_MS,)]


def test_a_time_of_another_type_is_taken_too(spark, reader):
    columns = "at timestamp, day date, text string"
    rows = make_rows(spark, columns, (NOON - timedelta(days=2), NOON.date(), "12:00"))
    for number, field in enumerate(("at", "day", "text", "absent")):
        Lake(spark, reader.name.removeprefix("lake."), field).write(rows, batch(number), 0)

    days = reader.query("SELECT CAST(_event_time AS DATE) FROM t ORDER BY _event_time")
    assert [str(day) for (day,) in days] == ["2026-11-19"] + ["2026-11-21"] * 3
