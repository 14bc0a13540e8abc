"""A sync names columns as a job does, and leaves the names of older versions."""

from __future__ import annotations

from typing import Any

from pyiceberg import types as iceberg

from penstock.extensions.drift.inspection import TableTarget, inspect_tables, sync_tables
from penstock.schemas import infer_schema
from penstock.tables import Struct, read_event
from tests.fixtures.lakes import Lake, lake

__all__ = ["lake"]


def _find(lake: Lake, table: str, event: Struct) -> list[Any]:
    return list(inspect_tables([TableTarget(event, (lake.name(table),))]).differences)


def _sync(lake: Lake, table: str, event: Struct) -> Any:
    (synced,) = sync_tables([TableTarget(event, (lake.name(table),))], apply=True)
    return synced


def test_names_of_json_are_columns_and_comments_and_older_names_stay(lake: Lake) -> None:
    """Columns of older versions have the names of Avro, and no comments."""
    amount = iceberg.StructType(
        iceberg.NestedField(90, "minor_x0020_units", iceberg.LongType(), required=False)
    )
    lake.create("old", ("Order_x002d_ID", iceberg.StringType()), ("Amount", amount))
    lake.create("new")
    event = {"Order-ID": "a", "Amount": {"minor units": 1}}
    known = read_event(infer_schema(event, "payment"))
    grown = read_event(infer_schema({**event, "Amount": {"minor units": 1, "a b": 1}}, "payment"))

    assert _find(lake, "old", known) == []
    assert _sync(lake, "old", grown).applied
    assert _sync(lake, "new", grown).applied

    assert _find(lake, "old", grown) == _find(lake, "new", grown) == []
    assert lake.columns("old") == {
        "Order_x002d_ID": "string",
        "Amount": "struct<minor_x0020_units:bigint,a_b:bigint>",
    }
    fields = {each.name: each for each in lake.load("new").schema().fields[-2:]}
    inside = {each.name: each.doc for each in fields["Amount"].field_type.fields}
    assert fields["Order_ID"].doc == 'field "Order-ID"'
    assert inside == {"a_b": 'field "a b"', "minor_units": 'field "minor units"'}
    found = lake.glue.get_table(DatabaseName=lake.database, Name="new")["Table"]
    comments = {
        each["Name"]: each.get("Comment", "") for each in found["StorageDescriptor"]["Columns"]
    }
    assert comments["Order_ID"] == 'field "Order-ID"'
