"""Columns have the names of JSON as far as Athena takes them, and say which field they hold."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.schemas import infer_schema, merge_schemas
from penstock.tables import (
    Column,
    Struct,
    compare_columns,
    hold_event,
    mark_field,
    match_fields,
    merge_columns,
    name_column,
    name_fields,
    read_event,
    read_glue_column,
    read_json_name,
    write_glue_columns,
)
from penstock.tables.names import read_name

_NAMES = st.one_of(
    st.text(st.sampled_from("aA_-. é2"), min_size=1, max_size=4),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
)
# Names for a few events: those at the top, and those of an object inside.
_EVENTS = st.lists(
    st.tuples(st.sets(_NAMES, min_size=1, max_size=5), st.sets(_NAMES, max_size=5)),
    min_size=1,
    max_size=3,
)
_GLUE = re.compile("[\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff\t]*")
_INSIDE = "the inside"


def _read(names: set[str], inside: set[str]) -> Struct:
    event = dict.fromkeys(names - {_INSIDE}, 1)
    return read_event(infer_schema({**event, _INSIDE: dict.fromkeys(inside, 1)}, "sensor"))


@pytest.mark.parametrize(
    ("json_name", "name"),
    [
        ("deviceId", "deviceId"),
        ("_id", "_id"),
        ("a__b", "a__b"),
        ("1st", "1st"),
        ("Order-ID", "Order_ID"),
        ("minor units", "minor_units"),
        ("temp (°C)", "temp_C"),
        ("a.b", "a_b"),
        ("größe", "größe"),
        ("e\u0301", "é"),
        ("日本", "日本"),
        ("💰", "field"),
        ("\U00020bb7野家", "野家"),
        ("m²", "m"),
        ("", "field"),
        ("x" * 300, "x" * 240),
        ("日" * 100, "日" * 80),
    ],
)
def test_what_athena_takes_stays_and_the_rest_becomes_one_underscore(
    json_name: str, name: str
) -> None:
    assert name_column(json_name) == name


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
@example("\n\uffff\ufffe\x7f")
def test_a_comment_holds_the_name_of_json_in_what_glue_takes(json_name: str) -> None:
    comment = mark_field("avro", json_name)

    assert _GLUE.fullmatch(comment)
    assert len(comment.encode()) <= 255
    if json_name == "avro":
        assert comment == ""
    else:
        assert (read_json_name(comment), read_name(comment)) == (json_name, None)


def test_a_comment_that_glue_would_cut_is_none() -> None:
    assert mark_field("a", "x" * 248) == ""
    assert len(mark_field("a", "x" * 247)) == 255
    assert (read_name("field Temp"), read_name("degrees")) == ("Temp", None)
    assert (read_json_name('field "x'), read_name('field "x')) == (None, '"x')


@given(_EVENTS)
def test_each_field_has_a_column_of_its_own_whatever_came_before(
    events: list[tuple[set[str], set[str]]],
) -> None:
    table = Struct()
    read = [_read(*names) for names in events]
    for event in read:
        table = merge_columns(table, event)

    for event in read:
        assert compare_columns(table, merge_columns(table, event)).added == ()
        _check(table, event)
    for column in table.columns:
        assert re.fullmatch(r"[^\W]+", column.name)
        assert _GLUE.fullmatch(column.name)
        assert len(column.name.encode()) <= 255


def _check(table: Struct, event: Struct) -> None:
    """Every field has a column that says which field it holds, and no two names meet."""
    lowered = [each.name.lower() for each in table.columns]
    assert len(set(lowered)) == len(lowered)
    held = match_fields(table.columns, event.columns)
    assert len({each.name for each in held.values()}) == len(event.columns)
    for field in event.columns:
        column = held[field.name]
        assert column.field == field.field
        if isinstance(field.type, Struct):
            assert isinstance(column.type, Struct)
            _check(column.type, field.type)


@given(_EVENTS)
def test_a_glue_table_of_files_keeps_the_names_and_fields_of_its_columns(
    events: list[tuple[set[str], set[str]]],
) -> None:
    columns = Struct()
    for names in events:
        columns = hold_event(columns, _read(*names), ["day"])

    written = write_glue_columns([], columns)
    found = Struct(tuple(map(read_glue_column, written)))

    assert write_glue_columns(written, found) == written
    for names in events:
        event = _read(*names)
        named = name_fields(found, hold_event(Struct(), event, ["day"]), event)
        held = hold_event(named, event, ["day"])
        assert compare_columns(found, held).added == ()
        _check(Struct(tuple(each for each in held.columns if not each.is_own)), event)


def test_columns_of_an_older_version_keep_their_names() -> None:
    """They have the names of Avro, and comments only where two differed in case."""
    inside = Struct((Column("minor_x0020_units", "bigint"),))
    old = Struct(
        (
            Column("Order_x002d_ID", "string"),
            Column("Amount", inside),
            Column("order_x002d_id_2", "string", "field order_x002d_id"),
            Column("event_x1f4b0_", "bigint", "field _x1f4b0_"),
            Column("event_x002d_a", "bigint"),
        )
    )
    event = read_event(
        infer_schema(
            {"Order-ID": "a", "Amount": {"minor units": 1, "total units": 1}, "order-id": "b"}
            | {"💰": 1, "event-a": 2, "new-one": 1},
            "payment",
        )
    )

    merged = merge_columns(old, event)

    added = [(each.parent, each.column) for each in compare_columns(old, merged).added]
    assert added == [
        ("Amount", Column("total_units", "bigint", 'field "total units"')),
        (None, Column("new_one", "bigint", 'field "new-one"')),
    ]
    assert merged.columns[0] == old.columns[0]
    assert merge_columns(merged, event) == merged


def test_a_name_that_an_older_column_has_for_another_field_is_taken() -> None:
    """`temp_x002d_c` in JSON is another field than `temp-c`, which has that name in Avro."""
    event = read_event(infer_schema({"temp-c": 1, "temp_x002d_c": 2}, "sensor"))

    merged = merge_columns(Struct((Column("temp_x002d_c", "bigint"),)), event)

    assert merged.columns == (
        Column("temp_x002d_c", "bigint"),
        Column("temp_x002d_c_2", "bigint", 'field "temp_x002d_c"'),
    )


def test_an_author_may_give_two_fields_each_others_names() -> None:
    names = {"a": "b", "b": "a"}
    fields = [{"name": each, "type": "long", "jsonName": names[each]} for each in names]
    schema = merge_schemas([{"type": "record", "name": "r", "fields": fields}])

    merged = merge_columns(Struct(), read_event(schema))

    assert {(each.name, each.comment) for each in merged.columns} == {
        ("b", 'field "b"'),
        ("a", 'field "a"'),
    }
    assert merge_columns(merged, read_event(schema)) == merged


def test_glue_keeps_comments_inside_of_a_struct_as_a_parameter() -> None:
    event = read_event(infer_schema({"Amount": {"minor units": 1}}, "payment"))

    *_, written = write_glue_columns([], hold_event(Struct(), event, []))

    assert written["Type"] == "struct<minor_units:bigint>"
    assert json.loads(written["Parameters"]["penstock.comments"]) == {
        "minor_units": 'field "minor units"'
    }
    written["Parameters"]["penstock.comments"] = "[not ours"
    assert read_glue_column(written).type == Struct((Column("minor_units", "bigint"),))
