"""Plans tell the decoder in Java how a writer's values become those of the columns."""

from __future__ import annotations

import pytest

from penstock.errors import SchemaConflictError
from penstock.schemas import merge_schemas
from penstock.spark.decoding.plans import MergedType, write_plan
from tests.spark.records import make_record
from tests.stubs.unions import RENAMED, make_event


def _plans(*schemas):
    root = MergedType.of(merge_schemas(list(schemas)))
    return [write_plan(schema, root) for schema in schemas]


def test_fields_are_read_in_the_writers_order_into_the_readers_columns():
    first, second = _plans(
        make_record(("id", "string"), ("x", ["null", "long"]), ("y", "int")),
        make_record(("y", "long"), ("x", ["null", "double"]), ("id", "string")),
    )

    assert first == [
        "record",
        [0, ["string"]], [2, ["union", ["null"], ["long", "double"]]], [1, ["int", "long"]],
    ]  # fmt: skip
    assert second == [
        "record",
        [1, ["long", "long"]], [2, ["union", ["null"], ["double"]]], [0, ["string"]],
    ]  # fmt: skip


def test_a_value_of_several_types_is_a_member_wherever_its_writer_has_it():
    one, other = _plans(
        make_record(("u", ["null", "string", "long"])), make_record(("u", "double"))
    )

    number, text = ["member", 0, 2, ["long", "double"]], ["member", 1, 2, ["string"]]
    assert one == ["record", [0, ["union", ["null"], text, number]]]
    assert other == ["record", [0, ["member", 0, 2, ["double"]]]]


def test_what_never_holds_a_value_is_read_and_left_out():
    (plan,) = _plans(
        make_record(
            ("nothing", "null"),
            ("empty", make_record(("inside", "null"), name="Empty")),
            ("a", "int"),
        )
    )

    empty = ["record", [-1, ["null"]]]
    assert plan == ["record", [-1, ["null"]], [-1, empty], [0, ["int", "int"]]]


def test_types_with_parts_name_them():
    milliseconds = {"type": "long", "logicalType": "timestamp-millis"}
    (plan,) = _plans(
        make_record(
            ("e", {"type": "enum", "name": "E", "symbols": ["A", "B"]}),
            ("f", {"type": "fixed", "name": "F", "size": 2}),
            ("items", {"type": "array", "items": {"type": "map", "values": "bytes"}}),
            ("at", milliseconds),
            ("no_time", {"type": "int", "logicalType": "timestamp-millis"}),
            ("ratio", "float"),
        )
    )

    assert [each[1] for each in plan[1:]] == [
        ["enum", "A", "B"], ["fixed", 2], ["array", ["map", ["bytes"]]],
        ["long", "millis"], ["int", "int"], ["float", "float"],
    ]  # fmt: skip


@pytest.mark.parametrize("name", RENAMED)
def test_a_record_whose_name_another_type_of_the_union_takes_has_no_plan(name):
    before, after = ({"type": "array", "items": each} for each in RENAMED[name])
    (_, old, _) = before["items"]

    with pytest.raises(SchemaConflictError) as caught:
        _plans(make_event(before), make_event(after))

    assert str(caught.value) == (
        f"u[]: several types of the union have the name or alias {old['name']}, expected only "
        f"the one with the values of the record {old['name']}"
    )
    assert caught.value.path == "u[]"
