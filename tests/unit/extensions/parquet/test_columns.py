"""The columns of a Glue table of Parquet files: names in lower case, types that read old files."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import (
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
)

from penstock.errors import SchemaConflictError
from penstock.extensions.parquet.spark.columns import grow_columns, read_file_columns
from penstock.spark.columns import read_columns
from penstock.tables import read_glue_column

_OWN = 7


def _event(**types: DataType) -> StructType:
    return StructType([StructField(name, type_) for name, type_ in types.items()])


def _grow(columns: list[dict[str, Any]], **types: DataType) -> list[dict[str, Any]]:
    return grow_columns("lake.t", columns, _event(**types))


def test_a_new_table_has_our_columns_first_and_names_in_lower_case() -> None:
    columns = _grow([], deviceId=StringType(), Temp=DoubleType(), temp=LongType())

    assert [each["Name"] for each in columns[:_OWN]] == [
        *("_event_time", "_topic", "_kafka_partition", "_offset"),
        *("_kafka_timestamp", "_schema_id", "_schema_version"),
    ]
    assert columns[_OWN:] == [
        {"Name": "deviceid", "Type": "string", "Comment": "field deviceId"},
        {"Name": "temp", "Type": "double", "Comment": "field Temp"},
        {"Name": "temp_2", "Type": "bigint", "Comment": "field temp"},
    ]
    assert [read_glue_column(each).name for each in columns[_OWN:]] == [
        "deviceId",
        "Temp",
        "temp_2",
    ]


def test_the_same_event_changes_nothing() -> None:
    columns = _grow([], deviceId=StringType(), temp=LongType(), Temp=LongType())

    assert _grow(columns, deviceId=StringType(), Temp=LongType()) == columns


def test_nested_names_that_differ_in_case_keep_their_fields() -> None:
    inner = _event(Temp=LongType(), temp=LongType())
    columns = _grow([], s=inner)
    (held,) = [each for each in read_file_columns(columns, _event(s=inner)) if each.name == "s"]

    assert _grow(columns, s=inner) == columns
    assert [each.field for each in read_columns(held.dataType).columns] == ["Temp", "temp"]


@pytest.mark.parametrize("key", ["query", "batch", "part", "day"])
def test_a_field_leaves_the_names_of_partition_keys_free(key: str) -> None:
    columns = _grow([], **{key: IntegerType()})

    assert columns[_OWN:] == [{"Name": f"{key}_2", "Type": "int", "Comment": f"field {key}"}]
    assert _grow(columns, **{key: LongType()})[_OWN:] == [
        {"Name": f"{key}_2", "Type": "bigint", "Comment": f"field {key}"}
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (IntegerType(), LongType(), "bigint"),
        (LongType(), IntegerType(), "bigint"),
        (FloatType(), DoubleType(), "double"),
        (DoubleType(), LongType(), "double"),
    ],
)
def test_a_column_gets_a_type_that_reads_older_files(
    old: DataType, new: DataType, expected: str
) -> None:
    columns = _grow(_grow([], a=old), a=new, b=StringType())

    assert [each["Type"] for each in columns[_OWN:]] == [expected, "string"]


@pytest.mark.parametrize("old", [IntegerType(), LongType()])
def test_whole_numbers_of_older_files_cannot_become_doubles(old: DataType) -> None:
    columns = _grow([], a=old)

    with pytest.raises(
        SchemaConflictError,
        match=rf"lake\.t: the column a is {old.simpleString()} and the records need double, "
        "expected a type that reads the Parquet files written before: write these records to "
        "another folder and table",
    ):
        _grow(columns, a=DoubleType())


def test_a_type_that_glue_does_not_know_is_kept_beside() -> None:
    (column,) = _grow([], at=TimestampNTZType())[_OWN:]

    assert column == {
        "Name": "at",
        "Type": "timestamp",
        "Parameters": {"penstock.type": "timestamp_ntz"},
    }


def test_a_type_that_somebody_changed_counts() -> None:
    changed = {"Name": "at", "Type": "string", "Parameters": {"penstock.type": "timestamp_ntz"}}

    (column, *_) = read_file_columns([changed], StructType())
    assert column.dataType == StringType()


def test_comments_of_others_on_a_column_stay() -> None:
    found = [{"Name": "a", "Type": "int", "Comment": "degrees", "Parameters": {"owner": "x"}}]

    assert _grow(found, b=IntegerType())[0] == found[0]
    assert _grow(found, a=LongType())[0] == {"Name": "a", "Type": "bigint", "Comment": "degrees"}


def test_a_column_that_a_sync_added_holds_the_field_of_its_name() -> None:
    columns = _grow([{"Name": "roomname", "Type": "string"}], roomName=StringType())

    assert columns[0] == {"Name": "roomname", "Type": "string", "Comment": "field roomName"}
    assert [each["Name"] for each in columns[1:]] == [each["Name"] for each in _grow([])]


def test_members_of_a_union_keep_their_names_in_files() -> None:
    reading = {"member_acme_Reading": LongType()}
    first = _event(u=_event(**reading, member_string=StringType()))
    second = _event(u=_event(member_Alarm=LongType(), **reading))

    columns = grow_columns("lake.t", grow_columns("lake.t", [], first), second)

    assert columns[_OWN]["Type"] == (
        "struct<member_acme_reading:bigint,member_string:string,member_alarm:bigint>"
    )
    assert read_file_columns(columns, first)["u"].dataType.simpleString() == (
        "struct<member_acme_Reading:bigint,member_string:string,member_Alarm:bigint>"
    )
    with pytest.raises(SchemaConflictError, match="whose members an earlier release numbered"):
        grow_columns("lake.t", [{"Name": "u", "Type": "struct<member0:string>"}], first)
