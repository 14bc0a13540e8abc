"""Events fit to a schema that was registered first: what it takes, fills in and refuses."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from penstock.errors import EventLimitError, EventValueError
from penstock.schemas import (
    compile_fitter,
    decode,
    decode_event,
    encode,
    load_schema,
    parse_event,
)
from tests.oracle.generate import Maker
from tests.unit.schemas.writing import ENUM, field, record

_FIXED = {"type": "fixed", "name": "X", "size": 4}
_DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}
_DURATION = {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}
_AIR = record(field("double", "celsius"), name="Air")
_WATER = record(field("double", "litres"), field("string", "pipe", default="main"), name="Water")


def _fit(event: dict[str, Any], schema: Any, base: dict[str, Any] | None = None) -> Any:
    """Return the record that a reader decodes, by Avro names."""
    return decode(encode(compile_fitter(schema)(event, base or {}), schema), schema)


def _refused(event: dict[str, Any], schema: Any) -> EventValueError:
    with pytest.raises(EventValueError) as caught:
        compile_fitter(schema)(event, {})
    return caught.value


@pytest.mark.parametrize(
    ("type_", "value", "found"),
    [
        ("bytes", "AAEC/w==", b"\0\1\2\xff"),
        ("bytes", "", b""),
        (_FIXED, "AAEC/w==", b"\0\1\2\xff"),
        (_DECIMAL, 12.34, b"\x04\xd2"),
        (_DECIMAL, -1, b"\x9c"),  # -100
        (_DECIMAL | {"type": "fixed", "name": "F", "size": 3}, 1, b"\0\0\x64"),
        (_DURATION, "AQAAAAIAAAADAAAA", b"\1\0\0\0\2\0\0\0\3\0\0\0"),
        ({"type": "int", "logicalType": "date"}, 20_779, 20_779),
        ({"type": "long", "logicalType": "timestamp-micros"}, 2**53 + 1, 2**53 + 1),
        ({"type": "string", "logicalType": "uuid"}, "0" * 32, "0" * 32),
        (ENUM, "B", "B"),
        ("float", 21.5, 21.5),
        ("float", 21.7, 21.700000762939453),
        ("float", -(2**24), -(2.0**24)),
        ("float", -0.015625, -0.015625),
        ("float", 1e-7, 1.0000000116860974e-07),
        ("double", 7, 7.0),
        ({"type": "array", "items": ["null", "bytes"]}, ["AA==", None], [b"\0", None]),
        ({"type": "map", "values": _FIXED}, {"k": "AAAAAA=="}, {"k": bytes(4)}),
        (["null", "bytes"], "AA==", b"\0"),
        (["bytes", "string"], "AA==", "AA=="),  # a string is text if it may be
        (["null", "float", "double"], 0.1, 0.1),  # and a number is exact
        (["null", _FIXED, "bytes"], "AA==", b"\0"),
        (["null", _FIXED, "bytes"], "AAAAAA==", bytes(4)),
        ([_AIR, _WATER], {"litres": 2}, {"litres": 2.0, "pipe": "main"}),
        ([_AIR, _WATER], {"celsius": 2}, {"celsius": 2.0}),
        (["null", "long", "boolean", "double"], 0.5, 0.5),
    ],
)  # fmt: skip
def test_every_type_is_written_from_json(type_: Any, value: Any, found: Any) -> None:
    assert _fit({"a": value}, record(field(type_))) == {"a": found}


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        ("bytes", "warm?", "a: found the string 'warm?', expected bytes in base64"),
        ("bytes", 7, "a: found 7, expected bytes in base64"),
        ("bytes", None, "a: found null, expected bytes in base64"),
        (_DECIMAL, "BNI=", "a: found the string 'BNI=', expected decimal(6, 2)"),
        (_DECIMAL, True, "a: found true, expected decimal(6, 2)"),
        (_DECIMAL, 12.345, "a: found 12.345, expected decimal(6, 2): at most 4 digits before the "
         "point and 2 after it"),
        (_FIXED, "AAEC", "a: found the string 'AAEC', expected 4 bytes in base64"),
        ({"type": "fixed", "name": "Y", "size": 1}, "AAEC",
         "a: found the string 'AAEC', expected 1 byte in base64"),
        (ENUM, "D", "a: found the string 'D', expected enum E [A, B, C]"),
        ("float", 1e300, "a: found 1e+300, expected a number within the range of a float"),
        ("float", 2**24 + 1,
         "a: found 16777217, expected at most 2^24 in size, beyond which a float rounds"),
        ("float", 21.123456789,
         "a: found 21.123456789, expected a number of no more digits than a float keeps"),
        ("float", 1e-46, "a: found 1e-46, expected a number of no more digits than a float keeps"),
        ("float", True, "a: found true, expected float"),
        ("long", 1.0, "a: found 1.0, expected long"),
        (["null", _AIR], {"celsius": "warm"},
         "a.celsius: found the string 'warm', expected double"),
        (["null", "string", _AIR], {"celsius": "warm"},
         "a.celsius: found the string 'warm', expected double"),
        ([_AIR, _WATER], {"kelvin": 2}, "a: found an object, expected record Air or record Water"),
        ({"type": "array", "items": _AIR}, [{"celsius": 1}, {}],
         "a[].celsius: found no value, expected double, which every event must have"),
        ({"type": "map", "values": _AIR}, {"k": {"celsius": 1, "b": 1}},
         "a.k.b: found 1, expected no such field in record Air"),
    ],
)  # fmt: skip
def test_an_event_that_does_not_fit_is_refused_with_its_path(
    type_: Any, value: Any, message: str
) -> None:
    assert str(_refused({"a": value}, record(field(type_)))) == message


@pytest.mark.parametrize("value", [None, {}, [], [None], 0, "x"])
def test_a_field_that_the_schema_lacks_is_refused_even_if_it_is_empty(value: Any) -> None:
    schema = record(field(record(field("long", "b"), name="O"), "o"))
    error = _refused({"o": {"b": 1, "c": value}}, schema)

    assert error.path == "o.c"
    assert str(error).endswith(", expected no such field in record O")


@pytest.mark.parametrize(
    ("branches", "value", "found"),
    [
        ([_DECIMAL, {"type": "fixed", "name": "X", "size": 2}], 12.3, 12.3),
        (["bytes", {"type": "fixed", "name": "X", "size": 2}], "AP8=", b"\0\xff"),
        (["string", ENUM], "A", "A"),
        ([ENUM, "string"], "A", "A"),
    ],
)
def test_a_value_is_written_as_the_branch_that_it_was_converted_to(
    branches: list[Any], value: Any, found: Any
) -> None:
    schema = record(field(["null", *branches], "t"))

    payload = encode(compile_fitter(schema)({"t": value}, {}), schema)

    assert payload[0] == 2  # the first branch after null
    assert decode_event(payload, schema) == {"t": found if found != 12.3 else Decimal("12.3")}


def test_a_missing_field_takes_its_default_or_null_or_is_refused() -> None:
    schema = record(
        field("string", "unit", default="C"),
        field("bytes", "raw", default="\xff"),
        field(["string", "null"], "place", default="hall"),
        field(["null", "long"], "note"),
        field({"type": "array", "items": _WATER}, "pipes", default=[{"litres": 1}]),
        field(_AIR, "air", default={"celsius": 0}),
        field("null", "nothing"),
        field("long", "must_have", jsonName="must-have"),
    )

    assert _fit({"must-have": 1, "place": None}, schema) == {
        "unit": "C",
        "raw": b"\xff",
        "place": None,
        "note": None,
        "pipes": [{"litres": 1.0, "pipe": "main"}],
        "air": {"celsius": 0.0},
        "nothing": None,
        "must_have": 1,
    }
    assert _fit({"must-have": 1}, schema)["place"] == "hall"
    assert str(_refused({}, schema)) == (
        "must-have: found no value, expected long, which every event must have"
    )
    assert str(_refused({"must-have": 1, "unit": None}, schema)) == (
        "unit: found null, expected string"
    )


_LONGS = {"type": "array", "items": "long"}


def test_the_values_of_a_branch_that_does_not_fit_are_not_counted() -> None:
    wide = record(*(field("long", f"f{n}", default=0) for n in range(1_000)), name="Wide")
    narrow = record(field("string", "text"), name="Narrow")
    items = record(field({"type": "array", "items": [wide, narrow]}, "t"))

    found = _fit({"t": [{"text": "x"}] * 1_900}, items)

    assert found["t"] == [{"text": "x"}] * 1_900
    with pytest.raises(EventLimitError):
        compile_fitter(items)({"t": [{"text": "x"}] * 2_100}, {})


@pytest.mark.parametrize(
    ("type_", "default"),
    [
        ("string", "x" * 16_000),
        ("bytes", "x" * 16_000),
        (_LONGS, [0] * 1_000),
        ({"type": "map", "values": "int"}, {f"k{number}": 1 for number in range(500)}),
        (record(field(_LONGS, "l", default=[0] * 1_000), name="D"), {}),
    ],
)
def test_defaults_count_as_values_since_each_item_of_a_list_takes_them(
    type_: Any, default: Any
) -> None:
    item = record(field(type_, "own", default=default), field("int", "n"), name="I")
    fit = compile_fitter(record(field({"type": "array", "items": item})))
    given = compile_fitter(record(field(type_, "own", default=default)))({}, {})["own"]
    assert given == decode(encode(given, type_), type_)
    fit({"a": [{"n": 1}] * 400}, {})

    with pytest.raises(EventLimitError, match=r"^a\[\]: found more than 500,000 values"):
        fit({"a": [{"n": 1}] * 600}, {})


@pytest.mark.parametrize(
    ("type_", "found"),
    [
        ("long", 5),
        ({"type": "long", "logicalType": "timestamp-millis"}, 5),
        (["null", "long"], 5),
        (["null", {"type": "long", "logicalType": "timestamp-micros"}], 5),
        (["null", {"type": "long", "logicalType": "local-timestamp-micros"}], None),
        (["null", "int"], None),
        (["null", "string"], None),
    ],
)
def test_a_base_field_is_used_where_the_schema_holds_it(type_: Any, found: Any) -> None:
    base = {"deviceId": "d-1", "timestamp": 5}

    assert _fit({}, record(field(type_, "timestamp")), base) == {"timestamp": found}
    assert _fit({}, record(field("string", "id", jsonName="deviceId")), base) == {"id": "d-1"}
    assert _fit({"b": 1}, record(field("int", "b")), base) == {"b": 1}
    assert _fit({"timestamp": 9}, record(field("long", "timestamp")), base) == {"timestamp": 9}


def test_a_base_field_of_another_type_is_missing() -> None:
    schema = record(field("string", "timestamp"))
    with pytest.raises(EventValueError, match=r"^timestamp: found no value, expected string"):
        compile_fitter(schema)({}, {"timestamp": 5})


# --- any schema, any event ------------------------------------------------------------------


def _make(maker: Maker) -> tuple[Any, Any]:
    """Make a schema, and a value of it; no union confuses text and base64."""
    schema = maker.record()
    _separate(schema, maker.rng)
    return load_schema(json.dumps(schema)), maker.value(schema)


def _separate(schema: Any, rng: random.Random) -> None:
    if isinstance(schema, list):
        if "string" in schema and "bytes" in schema:
            schema.remove("string")
        for branch in schema:
            _separate(branch, rng)
    elif isinstance(schema, dict):
        for each in schema.get("fields", ()):
            if rng.random() < 0.2:
                each["jsonName"] = f"{each['name']}-{rng.choice('äöü.')}"
            _separate(each["type"], rng)
        for part in ("items", "values"):
            _separate(schema.get(part), rng)


def _write(value: Any, schema: Any) -> Any:
    """Return a value as the JSON that a sender writes for it."""
    if isinstance(schema, list):
        schema = next((each for each in schema if _is_of(value, each)), "null")
    match schema["type"] if isinstance(schema, dict) else schema:
        case "record":
            return {
                each.get("jsonName", each["name"]): _write(value[each["name"]], each["type"])
                for each in schema["fields"]
            }
        case "array":
            return [_write(item, schema["items"]) for item in value]
        case "map":
            return {key: _write(item, schema["values"]) for key, item in value.items()}
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _is_of(value: Any, branch: Any) -> bool:
    kind = branch["type"] if isinstance(branch, dict) else branch
    classes = {"boolean": bool, "int": int, "long": int, "string": str, "bytes": bytes}
    return type(value) is (dict if kind == "record" else classes.get(kind))


_LACKING = object()  # instead of a schema, at a place for a field that the schema lacks


def _spots(event: Any, schema: Any, path: str) -> Iterator[tuple[Any, Any, Any, str]]:
    """Yield each place of an event: what holds it, its key there, its schema and its path."""
    if isinstance(schema, list):
        schema = next((each for each in schema if isinstance(each, dict)), "null")
    kind = schema["type"] if isinstance(schema, dict) else schema
    places: list[tuple[Any, Any, str]] = []
    if kind == "record" and isinstance(event, dict):
        names = [(each.get("jsonName", each["name"]), each["type"]) for each in schema["fields"]]
        places = [(name, type_, f"{path}.{name}" if path else name) for name, type_ in names]
        yield event, "unknown", _LACKING, f"{path}.unknown" if path else "unknown"
    elif kind == "array" and isinstance(event, list):
        places = [(i, schema["items"], f"{path}[]") for i in range(len(event))]
    elif kind == "map" and isinstance(event, dict):
        places = [(key, schema["values"], f"{path}.{key}") for key in event]
    for key, type_, inside in places:
        yield event, key, type_, inside
        yield from _spots(event[key], type_, inside)


def _wrong(schema: Any) -> Any:
    """Return a value that does not fit the schema at this place."""
    if isinstance(schema, list):
        return [[]]
    kind = schema["type"] if isinstance(schema, dict) else schema
    return {"string": 7, "array": {}, "map": []}.get(kind, "no value")


@pytest.mark.parametrize("seed", range(40))
def test_an_event_made_for_a_schema_comes_back_and_a_planted_fault_is_found(seed: int) -> None:
    rng = random.Random(seed)
    schema, value = _make(Maker(rng))
    event = parse_event(json.dumps(_write(value, schema)))
    fit = compile_fitter(schema)

    payload = encode(fit(event, {}), schema)

    assert decode(payload, schema) == value
    assert fit(event, {"deviceId": "d", "timestamp": 1}) == fit(event, {})
    read = decode_event(payload, schema)
    assert read.keys() <= event.keys()
    for _ in range(20):
        damaged = parse_event(json.dumps(event))
        holder, key, type_, path = rng.choice(list(_spots(damaged, schema, "")))
        is_required = str(key).startswith("f") and not (isinstance(type_, list) and "null" in type_)
        if is_required and rng.random() < 0.3:
            del holder[key]
        else:
            holder[key] = _wrong(type_)
        assert _refused(damaged, schema).path == path
