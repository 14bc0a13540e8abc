"""Columns of files keep their names in Glue, which knows lower case only."""

from __future__ import annotations

import pytest

from penstock.tables import (
    OWN_COLUMNS,
    Array,
    Column,
    Map,
    Struct,
    hold_event,
    name_fields,
    read_glue_column,
)
from penstock.tables.glue_columns import write_glue_column

_NESTED = Struct((Column("X", "timestamp_ntz"), Column("timestamp_ntz", "int")))


@pytest.mark.parametrize(
    ("column", "written"),
    [
        (Column("a", "int"), {"Name": "a", "Type": "int"}),
        (Column("a", "int", "degrees"), {"Name": "a", "Type": "int", "Comment": "degrees"}),
        (Column("roomName", "int"), {
            "Name": "roomname", "Type": "int", "Comment": "field roomName"}),
        (Column("s", _NESTED), {
            "Name": "s", "Type": "struct<x:timestamp,timestamp_ntz:int>",
            "Parameters": {"penstock.type": "struct<X:timestamp_ntz,timestamp_ntz:int>"}}),
        (Column("temp_2", "int", "field temp"), {
            "Name": "temp_2", "Type": "int", "Comment": "field temp"}),
    ],
)  # fmt: skip
def test_a_column_is_read_as_it_was_written(column: Column, written: dict[str, object]) -> None:
    assert write_glue_column(column) == written
    assert read_glue_column(written) == column


def test_a_type_that_another_writer_changed_counts() -> None:
    written = {**write_glue_column(Column("s", _NESTED)), "Type": "struct<x:int>"}

    assert read_glue_column(written) == Column("s", Struct((Column("x", "int"),)))


def test_names_of_partition_keys_are_taken() -> None:
    event = Struct((Column("day", "int"), Column("Part", "int")))

    held = hold_event(Struct(), event, ["day", "part"])

    assert held.columns == (
        *OWN_COLUMNS.columns,
        Column("day_2", "int", "field day"),
        Column("Part_2", "int", "field Part"),
    )
    assert hold_event(held, event, ["day", "part"]) == held


def test_columns_without_comments_are_named_by_the_fields_they_hold() -> None:
    inside = Struct((Column("roomTemp", "int"), Column("temp_2", "int", "field temp")))
    named = Struct((Column("roomName", Array(Map("string", inside))), Column("b", "int")))
    crawled = Struct((Column("roomtemp", "int"), Column("temp_2", "int")))
    found = Struct(
        (
            Column("roomname", Array(Map("string", crawled))),
            Column("b", "string", "field other"),
            Column("c", "int"),
        )
    )

    fields = Struct((Column("roomTemp", "int"), Column("temp", "int")))
    event = Struct((Column("roomName", Array(Map("string", fields))), Column("b", "int")))
    assert name_fields(found, named, event) == Struct((named.columns[0], *found.columns[1:]))


def test_a_column_keeps_its_field_whichever_comes_first() -> None:
    upper, lower = (Struct((Column(name, "int"),)) for name in ("Temp", "temp"))
    both = hold_event(hold_event(Struct(), upper, ()), lower, ())
    other = hold_event(hold_event(Struct(), lower, ()), upper, ())

    event = Struct((*upper.columns, *lower.columns))
    assert name_fields(both, other, event) == both
    assert name_fields(other, both, event) == other
