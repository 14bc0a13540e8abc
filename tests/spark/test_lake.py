"""The lake has every row under the columns of its event, by the day of its time."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from pyspark.sql import functions as F

from penstock.records import Projection
from penstock.schemas import infer_schema, merge_schemas, to_record
from penstock.spark.lake.conversion import EventTime
from penstock.spark.sinks.iceberg import Lake
from tests.spark.lakes import NOON, NOON_MS, SCHEMA_ID, LakeReader, make_rows, part
from tests.spark.records import make_decoded, make_version


def test_a_table_is_made_with_the_first_batch(spark, reader):
    rows = make_rows(
        spark, "deviceId string, timestamp bigint", ("a", NOON_MS - 86_400_000), ("b", None)
    )

    assert reader.lake.write(rows, part(0, 0)) == {}

    yesterday = datetime(2026, 11, 20, 12, tzinfo=UTC)
    assert reader.query(
        "SELECT deviceId, epoch_ms(_event_time), _topic, _kafka_partition, _offset, "
        "epoch_ms(_kafka_timestamp), _schema_id, _schema_version FROM t ORDER BY _offset"
    ) == [
        ("a", int(yesterday.timestamp()) * 1000, "t", 0, 0, NOON_MS, SCHEMA_ID, 1),
        ("b", NOON_MS, "t", 0, 1, NOON_MS, SCHEMA_ID, 1),
    ]
    days = spark.sql(f"SELECT partition._event_time_day FROM {reader.name}.partitions").collect()
    assert {str(row[0]) for row in days} == {"2026-11-20", "2026-11-21"}


def test_new_fields_are_columns_before_the_batch_that_has_them(spark, reader):
    reader.lake.write(make_rows(spark, "a int", (1,)), part(0, 0))
    reader.lake.write(
        make_rows(spark, "s struct<x: int>, a bigint", ((5,), 2**40), first=1), part(1, 0)
    )
    reader.lake.write(
        make_rows(spark, "a int, s struct<y: string, x: int>", (3, ("z", 6)), first=2), part(2, 0)
    )

    assert reader.query("SELECT a, s.x, s.y FROM t ORDER BY _offset") == [
        (1, None, None),
        (2**40, 5, None),
        (3, 6, "z"),
    ]


def test_names_that_differ_in_case_and_names_of_ours_are_columns_too(spark, reader):
    columns = "Temp double, temp double, _topic string, s struct<A: int, a: int>"
    reader.lake.write(make_rows(spark, columns, (1.5, 2.5, "mine", (1, 2))), part(0, 0))
    again = "s struct<a: int, A: int>, temp double, Temp double"
    reader.lake.write(make_rows(spark, again, ((3, 4), 5.5, 6.5), first=1), part(1, 0))

    found = reader.query("SELECT Temp, temp_2, event_topic, s.A, s.a_2 FROM t ORDER BY _offset")
    assert found == [(1.5, 2.5, "mine", 1, 2), (6.5, 5.5, None, 4, 3)]


def test_names_of_json_are_columns_and_those_of_an_older_version_stay(spark, reader, lake_folder):
    event = {"Order-ID": "a", "Amount": {"minor units": 2**40}, "l": [{"a b": 1}], "💰": 1}
    other = {"Order-ID": "b", "Amount": {"minor units": 1, "mi/no": 2}, "order id": "c"}
    schemas = [infer_schema(each, "payment") for each in (event, other)]
    merged = merge_schemas(schemas)
    version = make_version(1, merged)
    values = [to_record(each, merged) for each in (event, other)]
    rows = make_decoded(spark, version, *values, first=10)
    # What an older version made of the first event.
    before = "Order_x002d_ID string, Amount struct<minor_x0020_units: bigint>, _x1f4b0_ bigint"
    old = LakeReader(spark, lake_folder, "db.t_of_an_older_version")
    old.lake.write(make_rows(spark, before, ("z", (7,), 8)), part(0, 0))

    for each in (reader, old):
        assert each.lake.write(rows, part(1, 0)) == {}

    assert reader.query(
        "SELECT Order_ID, order_id_2, Amount.minor_units, Amount.mi_no, l[1].a_b, field FROM t "
        "ORDER BY _offset"
    ) == [("a", None, 2**40, None, 1, 1), ("b", "c", 1, 2, None, None)]
    assert old.query(
        "SELECT Order_x002d_ID, order_id, Amount.minor_x0020_units, Amount.mi_no, l[1].a_b, "
        "event_x1f4b0_ FROM t ORDER BY _offset"
    ) == [
        ("z", None, 7, None, None, 8),
        ("a", None, 2**40, None, 1, 1),
        ("b", "c", 1, 2, None, None),
    ]
    columns = reader.table().schema()
    assert columns["Order_ID"].metadata["comment"] == 'field "Order-ID"'
    assert columns["Amount"].dataType["minor_units"].metadata["comment"] == 'field "minor units"'
    assert columns["l"].dataType.elementType["a_b"].metadata["comment"] == 'field "a b"'
    assert columns["field"].metadata["comment"] == 'field "💰"'
    assert not old.table().schema()["Order_x002d_ID"].metadata


def test_columns_of_a_staged_table_have_the_names_that_were_chosen(spark, reader):
    version = make_version(1, infer_schema({"Order-ID": "a", "b-b": 1, "c": 1}, "payment"))
    renames = (("Order-ID", "order"), ("c", "new name"))
    columns = Projection(("Order-ID", "b-b", "c"), renames)
    value = to_record({"Order-ID": "a", "b-b": 2, "c": 3}, version.schema)

    reader.lake.write(make_decoded(spark, version, value, columns=columns), part(0, 0))

    assert reader.query('SELECT "order", b_b, new_name FROM t') == [("a", 2, 3)]
    found = {each.name: each.metadata.get("comment") for each in reader.table().schema()[-3:]}
    assert found == {"order": None, "b_b": 'field "b-b"', "new_name": 'field "new name"'}


def test_a_time_that_is_none_is_kafkas(spark, reader):
    times = [(-1,), (10**13,), (2**63 - 1,), (None,)]
    reader.lake.write(make_rows(spark, "timestamp bigint", *times), part(0, 0))

    assert reader.query("SELECT DISTINCT epoch_ms(_event_time) FROM t") == [(NOON_MS,)]


def test_a_time_of_another_type_is_taken_too(spark, reader):
    columns = "at timestamp, day date, text string"
    rows = make_rows(spark, columns, (NOON - timedelta(days=2), NOON.date(), "12:00"))
    for number, field in enumerate(("at", "day", "text", "absent")):
        Lake(spark, reader.name.removeprefix("lake."), EventTime(field)).write(
            rows, part(number, 0)
        )

    days = reader.query("SELECT CAST(_event_time AS DATE) FROM t ORDER BY _event_time")
    assert [str(day) for (day,) in days] == ["2026-11-19"] + ["2026-11-21"] * 3


def test_a_time_as_far_from_kafkas_as_possible_stops_no_batch(spark, reader):
    """A difference of two times may be no long, which is an error in Spark."""
    rows = make_rows(
        spark, "at bigint", (-9_223_372_000_000_000_000,), (9_223_372_000_000_000_000,)
    )
    rows = rows.withColumn("event", F.expr("named_struct('at', timestamp_micros(event.at))"))

    Lake(spark, reader.name.removeprefix("lake."), EventTime("at")).write(rows, part(0, 0))

    assert reader.query("SELECT DISTINCT epoch_ms(_event_time) FROM t") == [(NOON_MS,)]


def test_broken_clocks_open_no_file_for_each_of_their_days(spark, reader):
    """A task holds a file open for each day; an event may be a month old, or of tomorrow."""
    day = 86_400_000
    draw = random.Random(7).randrange
    times = [NOON_MS - 30 * day, NOON_MS + day, *(draw(10**13) for _ in range(2_000))]

    rows = make_rows(spark, "timestamp bigint", *((each,) for each in times))
    reader.lake.write(rows.coalesce(1), part(0, 0))

    days = reader.query(
        "SELECT DISTINCT CAST(_event_time AS DATE)::VARCHAR AS day FROM t ORDER BY 1"
    )
    assert {("2026-10-22",), ("2026-11-22",)} <= set(days)
    assert len(days) <= 32
    assert reader.table().count_files() == len(days)
    assert {each for (each,) in reader.query("SELECT timestamp FROM t")} == set(times)


def test_old_events_keep_their_days_if_the_setting_allows_it(spark, reader):
    lake = Lake(spark, reader.name.removeprefix("lake."), EventTime(days_before=3650))
    lake.write(make_rows(spark, "timestamp bigint", (NOON_MS - 3_000 * 86_400_000,)), part(0, 0))

    assert reader.query("SELECT CAST(_event_time AS DATE)::VARCHAR FROM t") == [("2018-09-04",)]
