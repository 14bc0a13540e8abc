"""Events to records and back, with schemas that the event did not make itself."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import EventValueError
from penstock.schemas import compile_event_decoder, decode_event, encode, infer_schema, to_record
from tests.stubs.readings import BASE_FIELDS


def _record(*fields: dict[str, Any], name: str = "R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def _field(name: str, type_: Any, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **attributes}


_NAMED = _record(_field("t_c", "long", jsonName="t-c"), name="I")
_OTHER = _record(_field("u_c", "long", jsonName="u-c"), name="J")


def test_the_events_own_base_values_take_precedence() -> None:
    schema = infer_schema({}, "R", base=BASE_FIELDS)
    defaults = {"deviceId": "lambda", "timestamp": 1}
    assert to_record({}, schema, defaults) == defaults
    assert to_record({"timestamp": 9}, schema, defaults) == {"deviceId": "lambda", "timestamp": 9}


def test_a_missing_field_is_null_if_optional_and_rejected_if_required() -> None:
    schema = _record(_field("a", ["null", "long"]), _field("n", "null"), _field("b", "long"))
    assert to_record({"b": 1}, schema) == {"a": None, "n": None, "b": 1}
    with pytest.raises(EventValueError) as caught:
        to_record({"a": 1}, schema)
    assert str(caught.value) == "b: found no value, expected long, which every event must have"


def test_an_unknown_field_is_rejected_unless_it_is_empty() -> None:
    schema = _record(_field("o", ["null", _record(name="I")]))
    assert to_record({"o": {"x": [None, {}]}, "p": None}, schema) == {"o": {}}
    with pytest.raises(EventValueError) as caught:
        to_record({"o": {"x": [0]}}, schema)
    assert str(caught.value) == "o.x: found a list, expected no such field in record I"
    deep: Any = []
    for _ in range(2_000):
        deep = [deep]
    with pytest.raises(EventValueError, match=r"^p: found a list, expected no such field"):
        to_record({"p": deep}, schema)


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        ("int", 2**31, "f: found 2147483648, expected int"),
        ("long", 1.0, "f: found 1.0, expected long"),
        ("long", None, "f: found null, expected long"),
        ("float", 2**24 + 1,
         "f: found 16777217, expected at most 2^24 in size, beyond which a float rounds"),
        ("double", -(2**53) - 1,
         "f: found -9007199254740993, expected at most 2^53 in size, beyond which a double rounds"),
        ("float", 0.1, "f: found 0.1, expected a number that a float holds without rounding"),
        ("float", 1e300, "f: found 1e+300, expected a number that a float holds without rounding"),
        ("null", 0, "f: found 0, expected null"),
        ("bytes", "x", "f: found the string 'x', expected bytes"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "B",
         "f: found the string 'B', expected enum E [A]"),
        ({"type": "array", "items": "long"}, ["x"], "f[]: found the string 'x', expected long"),
        ({"type": "array", "items": "long"}, {}, "f: found an object, expected array of long"),
        ({"type": "map", "values": "long"}, {"k": "x"}, "f.k: found the string 'x', expected long"),
        (["long", "boolean"], "x", "f: found the string 'x', expected long or boolean"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused(type_: Any, value: Any, message: str) -> None:
    with pytest.raises(EventValueError) as caught:
        to_record({"f": value}, _record(_field("f", type_)))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ({"type": "map", "values": ["null", _NAMED]}, {"a-b": {"t-c": 1}, "c": None}),
        ({"type": "array", "items": ["null", _NAMED]}, [{"t-c": 1}, None]),
        (["null", "string", _NAMED, _OTHER], {"t-c": 1}),
        (["null", "string", _NAMED, _OTHER], {"u-c": 1}),
        (["null", "string", _NAMED, _OTHER], "x"),
        (["long", {"type": "map", "values": _NAMED}], {"k": {"t-c": 1}}),
        (["long", {"type": "array", "items": _NAMED}], [{"t-c": 1}]),
        (["null", "long", "double"], 2**53 + 1),
        ("float", 0.5),
    ],
)
def test_values_of_types_that_are_never_inferred_round_trip(type_: Any, value: Any) -> None:
    schema = _record(_field("f_", type_, jsonName="f-"))
    record = to_record({"f-": value}, schema)
    assert decode_event(encode(record, schema), schema) == {"f-": value}


def _holding(name: str, field: dict[str, Any]) -> dict[str, Any]:
    """Return a record with a field `value`, which is a record of one field."""
    return _record(_field("value", _record(field, name=f"{name}Value")), name=name)


_AIR = _holding("Air", _field("celsius", ["null", "double"]))
_WATER = _holding("Water", _field("litres", "double"))
_IN = _record(_field("x", "long", jsonName="in-volt"), name="In")
_OUT = _record(_field("x", "long", jsonName="out-volt"), name="Out")
_INNER = _record(_field("b", "long", jsonName="a"), name="Inner")


@pytest.mark.parametrize(
    ("branches", "value", "payload"),
    [
        ([_AIR, _WATER], {"value": {"litres": 42.5}}, "020000000000404540"),
        ([_AIR, _WATER], {"value": {"celsius": 0.5}}, "0002000000000000e03f"),
        ([_AIR, _WATER], {"value": {}}, "0000"),
        ([_IN, _OUT], {"in-volt": 5}, "000a"),
        ([_IN, _OUT], {"out-volt": 5}, "020a"),
        ([{"type": "map", "values": "long"}, _INNER], {"b": 5}, "000202620a00"),
        (["null", _INNER, {"type": "map", "values": "long"}], {"a": 5}, "020a"),
    ],
)
def test_an_object_comes_back_by_the_branch_that_it_was_written_as(
    branches: list[Any], value: Any, payload: str
) -> None:
    schema = _record(_field("u", branches))

    written = encode(to_record({"u": value}, schema), schema)

    assert written.hex() == payload
    assert decode_event(written, schema) == {"u": value}
    assert decode_event(written, schema, _record(_field("u", ["string", *branches]))) == {
        "u": value
    }


def test_a_default_that_is_filled_in_has_json_names_and_no_nulls() -> None:
    writer = _record(_field("a", "long"))
    inner = _record(
        _field("t_c", "long", jsonName="t-c"), _field("n", ["null", "long"], default=None), name="I"
    )
    reader = _record(
        _field("a", "long"),
        _field("o_", [inner, "null"], jsonName="o-", default={"t_c": 7}),
        _field("l", {"type": "array", "items": "I"}, default=[{"t_c": 8, "n": 9}]),
        _field("n", ["null", "long"], default=None),
    )
    read = compile_event_decoder(writer, reader)

    for _ in range(2):  # a change to one event is not in the next
        event = read(b"\x02")
        assert event == {"a": 1, "o-": {"t-c": 7}, "l": [{"t-c": 8, "n": 9}]}
        event["o-"]["t-c"] = 0


def test_null_fields_are_left_out_of_the_event() -> None:
    schema = _record(
        _field("a", ["null", "long"]), _field("o", _record(_field("b", "null"), name="I"))
    )
    assert decode_event(encode({"a": None, "o": {"b": None}}, schema), schema) == {"o": {}}
    assert decode_event(encode({"a": 0, "o": {"b": None}}, schema), schema) == {"a": 0, "o": {}}


def test_a_number_of_more_than_4300_digits_is_rejected() -> None:
    schema = infer_schema({"t": 1}, "R")
    expected = "t: found a whole number of 16,610 bits, expected a whole number within 64 bits"
    for refuse in (
        lambda event: infer_schema(event, "R"),
        lambda event: to_record(event, schema),
    ):
        with pytest.raises(EventValueError) as caught:
            refuse({"t": 10**5_000})
        assert str(caught.value) == expected
