"""What `known` and `base` do to an inferred schema; docs/events.md has the cases of one event."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import EventLimitError, EventValueError, SchemaConflictError
from penstock.schemas import (
    Compatibility,
    Policy,
    VersionSet,
    canonical_form,
    check_mode,
    check_schema,
    decode_event,
    encode,
    infer_schema,
    merge_schemas,
    to_record,
)
from tests.stubs.readings import BASE_FIELDS


def _known(type_: Any, name: str = "f", **attributes: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": name, "type": type_} | attributes]}


def _infer_type(value: Any, known: Any) -> Any:
    schema = infer_schema({"f": value}, "R", _known(known))
    check_schema(schema)
    assert isinstance(schema, dict)
    if not schema["fields"]:
        return None
    ((null, *types),) = (field["type"] for field in schema["fields"])
    assert null == "null"
    return types[0] if len(types) == 1 else types


_ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
_MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
_POINT = {
    "type": "record",
    "name": "geo.Point",
    "fields": [{"name": "x", "type": "double"}, {"name": "y", "type": "double"}],
}


def test_the_whole_schema_of_one_event() -> None:
    event = {"o": {"b-": [1], "a": True}, "t": "x"}
    inner = [
        {"name": "a", "type": ["null", "boolean"], "default": None},
        {
            "name": "b_x002d_",
            "type": ["null", {"type": "array", "items": ["null", "long"]}],
            "default": None,
            "jsonName": "b-",
        },
    ]
    assert infer_schema(event, "reading", base=BASE_FIELDS) == {
        "type": "record",
        "name": "reading",
        "fields": [
            {"name": "deviceId", "type": "string"},
            {"name": "timestamp", "type": "long"},
            {
                "name": "o",
                "type": ["null", {"type": "record", "name": "reading.o", "fields": inner}],
                "default": None,
            },
            {"name": "t", "type": ["null", "string"], "default": None},
        ],
    }


@pytest.mark.parametrize(
    ("known", "value", "type_"),
    [
        ("int", 5, "int"),
        ("int", 2**31, "long"),
        ("int", 0.5, "double"),
        ("float", 0.5, "float"),
        ("float", 2**24, "float"),
        ("float", 2**24 + 1, "double"),
        ("float", 0.1, "double"),
        ("float", 1e300, "double"),
        ("long", 1.0, "double"),
        (_MILLIS, 5, _MILLIS),
        (_ENUM, "B", _ENUM),
        (["null", "long", "string"], "x", ["long", "string"]),
        (["null", "long", "string"], None, ["long", "string"]),
        ("null", 5, "long"),
        ("null", None, None),
        (["null"], None, None),
        ({"type": "map", "values": "double"}, {"any": 1}, {"type": "map", "values": "double"}),
        ({"type": "map", "values": "double"}, {"any": None, "other": 1},
         {"type": "map", "values": ["null", "double"]}),
        ({"type": "map", "values": "double"}, {}, {"type": "map", "values": "double"}),
        ({"type": "array", "items": "string"}, [None],
         {"type": "array", "items": ["null", "string"]}),
        (_POINT, {"x": 1}, _POINT | {"fields": [
            {"name": "x", "type": ["null", "double"], "default": None}]}),
        (_POINT, None, _POINT),
    ],
)  # fmt: skip
def test_a_known_type_that_holds_the_value_is_taken(known: Any, value: Any, type_: Any) -> None:
    assert _infer_type(value, known) == type_


@pytest.mark.parametrize(
    ("known", "value", "message"),
    [
        ("string", 5, "f: found 5, expected string as in the versions before"),
        ("boolean", "x", "f: found the string 'x', expected boolean as in the versions before"),
        ("long", True, "f: found true, expected long as in the versions before"),
        ("long", [1], "f: found a list, expected long as in the versions before"),
        (_MILLIS, 0.5, "f: found 0.5, expected timestamp-millis as in the versions before"),
        (_ENUM, "C", "f: found the string 'C', expected enum E [A, B] as in the versions before"),
        ("bytes", "x", "f: found the string 'x', expected bytes as in the versions before"),
        (["string", "long"], True,
         "f: found true, expected string or long as in the versions before"),
        ({"type": "map", "values": "long"}, {"a": "x"},
         "f{}: found the string 'x', expected long as in the versions before"),
        ({"type": "array", "items": "long"}, {"a": 1},
         "f: found an object, expected array of long as in the versions before"),
        (_POINT, {"x": "far"},
         "f.x: found the string 'far', expected double as in the versions before"),
    ],
)  # fmt: skip
def test_a_value_that_contradicts_the_known_type_is_rejected(
    known: Any, value: Any, message: str
) -> None:
    with pytest.raises(SchemaConflictError) as caught:
        _infer_type(value, known)
    assert str(caught.value) == message
    assert message.startswith(f"{caught.value.path}: ")


def test_a_name_that_is_known_for_a_json_name_is_used_again() -> None:
    known = _known("double", name="temp_c", jsonName="temp-c")
    schema = infer_schema({"temp-c": 1}, "R", known)
    assert schema == {
        "type": "record",
        "name": "R",
        "fields": [
            {
                "name": "temp_c",
                "type": ["null", "double"],
                "default": None,
                "jsonName": "temp-c",
            }
        ],
    }


def test_a_known_type_that_two_fields_share_is_defined_once() -> None:
    known = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "a", "type": _POINT}, {"name": "b", "type": "geo.Point"}],
    }
    event = {"a": {"x": 1}, "b": {"y": 2}}
    schema = infer_schema(event, "R", known)
    check_schema(schema)
    assert decode_event(encode(to_record(event, schema), schema), schema) == event
    assert canonical_form(schema).count('"name":"geo.Point"') == 1
    merge_schemas([known, schema])


def test_base_fields_come_first_and_are_required() -> None:
    event = {"a": 1, "timestamp": 5, "deviceId": "d"}
    schema = infer_schema(event, "R", base=BASE_FIELDS)
    assert isinstance(schema, dict)
    assert [field["name"] for field in schema["fields"]] == ["deviceId", "timestamp", "a"]
    assert schema == infer_schema({"a": 1}, "R", base=BASE_FIELDS)
    assert [field.get("default", "required") for field in schema["fields"][:2]] == ["required"] * 2


def test_the_deepest_event_has_a_schema_that_can_be_loaded() -> None:
    event: Any = {"o": 1}
    for _ in range(31):
        event = {"o": event}
    check_schema(infer_schema(event, "reading"))
    with pytest.raises(EventLimitError, match="found more than 32 objects and lists inside"):
        infer_schema({"o": event}, "reading")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "f: found nan, expected a number within the range of a double"),
        (float("-inf"), "f: found -inf, expected a number within the range of a double"),
        (2**63, "f: found 9223372036854775808, expected a whole number within 64 bits"),
        ("\udfff", r"f: found the string '\udfff', expected a string without lone surrogates"),
        (b"x", "f: found b'x', expected a JSON value, not a Python bytes"),
        ([[], "x"], "f[]: found a list, expected string"),
        ("x" * 100 + "\ud800",
         f"f: found the string '{'x' * 39}..., expected a string without lone surrogates"),
    ],
)  # fmt: skip
def test_python_values_that_are_not_json_are_rejected(value: Any, message: str) -> None:
    with pytest.raises(EventValueError) as caught:
        infer_schema({"f": value}, "R")
    assert str(caught.value) == message


def test_a_key_with_a_surrogate_is_escaped_in_the_message() -> None:
    with pytest.raises(EventValueError) as caught:
        infer_schema({"o": {"\ud800": 1}}, "R")
    assert caught.value.path == r"o.\ud800"
    assert str(caught.value) == (
        r"o.\ud800: found the string '\ud800', expected a string without lone surrogates"
    )


_MILLIS = {"type": "long", "logicalType": "timestamp-millis"}


@pytest.mark.parametrize(
    "field",
    [
        {"name": "timestamp", "type": _MILLIS},
        {"name": "timestamp", "type": ["null", _MILLIS], "default": None},
        {"name": "time", "type": _MILLIS, "jsonName": "timestamp"},
    ],
)
def test_a_base_field_takes_a_known_type_that_holds_the_same_values(field: dict[str, Any]) -> None:
    device = {"name": "deviceId", "type": "string"}
    known = {"type": "record", "name": "reading", "fields": [device, field]}
    versions = VersionSet([known])

    inferred = infer_schema({"t": 1}, "reading", versions.merged, BASE_FIELDS)
    chosen = versions.choose(inferred, Policy.EXACT, 10)

    assert field in chosen["fields"]
    assert check_mode(chosen, [known], Compatibility.BACKWARD) == ()
    record = to_record({"t": 1}, chosen, {"deviceId": "d", "timestamp": 7})
    assert decode_event(encode(record, chosen), chosen) == {
        "deviceId": "d", "timestamp": 7, "t": 1,
    }  # fmt: skip


def test_a_base_field_of_another_kind_is_a_conflict() -> None:
    known = {"type": "record", "name": "reading", "fields": [
        {"name": "timestamp", "type": "string"}
    ]}  # fmt: skip

    inferred = infer_schema({}, "reading", known, BASE_FIELDS)

    with pytest.raises(SchemaConflictError, match=r"^timestamp: string in one version and long in"):
        VersionSet([known]).choose(inferred, Policy.EXACT, 10)
