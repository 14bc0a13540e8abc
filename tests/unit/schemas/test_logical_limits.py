"""Values beyond the limits of their logical types are no values of them, for writers and readers.

A value that a writer took and every reader refuses would be lost after it was acknowledged.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from penstock.errors import (
    EventValueError,
    InvalidSchemaError,
    SchemaConflictError,
    UndecodablePayloadError,
    UnencodableValueError,
)
from penstock.schemas import (
    compile_encoder,
    compile_event_decoder,
    compile_fitter,
    decode,
    decode_event,
    encode,
    find_decimal,
    infer_schema,
)

_MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 1}
_FIXED = {"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 4}
_DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 18}
_MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
_MOST = (2**63 - 1) // 1_000


def _record(type_):
    return {"type": "record", "name": "R", "fields": [{"name": "a", "type": type_}]}


def _decode(type_, value):
    schema = _record(type_)
    return decode(encode({"a": value}, schema), schema)["a"]


def _without_limit(type_):
    if isinstance(type_, list):
        return [_without_limit(branch) for branch in type_]
    if not isinstance(type_, dict):
        return type_
    return {name: value for name, value in type_.items() if name != "logicalType"}


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (_MONEY, (999).to_bytes(2)), (_MONEY, (-999).to_bytes(2, signed=True)),
        (_MONEY, b"\0" * 99 + b"\7"), (_FIXED, (9999).to_bytes(2)), (_MILLIS, _MOST),
        (_MILLIS, -_MOST), (["null", _MONEY], None),
        ({"type": "bytes", "logicalType": "decimal", "precision": 39}, b"\x7f" * 40),
        ({"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 3}, b"\x7f" * 40),
        ({"type": "long", "logicalType": "timestamp-micros"}, 2**63 - 1),
        ({"type": "int", "logicalType": "timestamp-millis"}, 2**31 - 1),
    ],
)  # fmt: skip
def test_a_value_within_its_limits_stays_what_it_is(type_, value) -> None:
    assert _decode(type_, value) == value


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        (_MONEY, (1000).to_bytes(2), "a: found a decimal in 2 bytes at byte 0, expected up to 3 d"),
        (_MONEY, b"", "a: found a decimal in 0 bytes at byte 0, expected up to 3 digits"),
        (_MONEY, b"\x7f" * 1000, "a: found a decimal in 1,000 bytes at byte 0"),
        (["null", _FIXED], (-10000).to_bytes(2, signed=True), "expected up to 4 digits"),
        (_MILLIS, _MOST + 1, f"a: found {_MOST + 1} milliseconds at byte 0, expected -{_MOST} to"),
        (_MILLIS, -(2**63), "which are microseconds of 64 bits"),
    ],
)
def test_a_value_beyond_its_limits_is_refused(type_, value, message) -> None:
    payload = encode({"a": value}, _record(_without_limit(type_)))

    with pytest.raises(UndecodablePayloadError, match=message):
        decode(payload, _record(type_))
    with pytest.raises(UnencodableValueError, match=r"^a: found .*, expected"):
        encode({"a": value}, _record(type_))


@pytest.mark.parametrize(
    ("type_", "default"),
    [(_MONEY, ""), (_MONEY, "\u007f\u007f"), (_FIXED, "\u007f\u007f"), (_MILLIS, 2**62)],
)
def test_a_default_beyond_its_limits_is_never_written(type_, default) -> None:
    schema = _record(type_)
    schema["fields"][0]["default"] = default

    message = r"^a: found default .*, expected a value of "
    with pytest.raises(InvalidSchemaError, match=message):
        compile_fitter(schema)({}, {})
    with pytest.raises(InvalidSchemaError, match=message):
        compile_encoder(schema)
    valid = {"a": 1 if type_ == _MILLIS else b"\0\1"}
    assert decode(encode(valid, _record(type_)), schema) == valid  # its records are read as before


def test_an_event_beyond_the_limits_of_a_known_type_is_refused() -> None:
    known = _record(["null", _MILLIS])
    known["fields"][0]["default"] = None

    with pytest.raises(
        EventValueError, match=f"^a: found {_MOST + 1}, expected timestamp-millis: "
    ):
        compile_fitter(known)({"a": _MOST + 1}, {})
    with pytest.raises(SchemaConflictError, match="expected timestamp-millis as in the versions"):
        infer_schema({"a": _MOST + 1}, "R", known)
    assert infer_schema({"a": _MOST}, "R", known)["fields"][0]["type"] == ["null", _MILLIS]


@pytest.mark.parametrize(
    ("type_", "unscaled", "number"),
    [
        (_MONEY, 123, "12.3"),
        (_MONEY, -999, "-99.9"),
        (_MONEY, 300, "30"),
        (_MONEY, 0, "0"),
        (["null", _FIXED], 7, "7"),
        (_DECIMAL, 1234567890123456789 * 10**16, "12345678901234567.89"),
        (_DECIMAL, 10**38 - 1, "99999999999999999999.999999999999999999"),
        (_DECIMAL, 20 * 10**18, "20"),
    ],
)
def test_a_decimal_of_an_event_is_its_number(type_, unscaled: int, number: str) -> None:
    schema = _record(type_)
    payload = encode({"a": unscaled.to_bytes(2 if type_ != _DECIMAL else 17, signed=True)}, schema)

    assert str(decode_event(payload, schema)["a"]) == number


def test_the_default_of_a_decimal_is_a_number_too() -> None:
    reader = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "a", "type": _MONEY, "default": "{"}],
    }

    assert decode_event(b"", _record(_MONEY) | {"fields": []}, reader) == {"a": Decimal("12.3")}


def test_the_default_of_a_decimal_for_events_has_no_more_digits_than_a_number() -> None:
    reader = _record({**_DECIMAL, "scale": 0})
    reader["fields"][0]["default"] = "\u007f" * 40

    with pytest.raises(InvalidSchemaError, match=r"^a: found default .*, expected a value of"):
        compile_event_decoder(_record("int") | {"fields": []}, reader)


@pytest.mark.parametrize(
    ("size", "digits"),
    [(0, 0), (1, 2), (2, 4), (15, 35), (16, 38), (17, 38), (1785, 38), (1786, 38), (2**20, 38)],
)
def test_a_fixed_holds_as_many_digits_as_its_bytes(size: int, digits: int) -> None:
    type_ = {"type": "fixed", "name": "F", "size": size, "logicalType": "decimal"}
    most, more = ({**type_, "precision": each} for each in (digits, digits + 1))
    value = (-1 if size else 0).to_bytes(size, signed=True)

    assert find_decimal(most, size) == ((digits, 0) if digits else None)
    assert find_decimal(more, size) is None
    assert compile_event_decoder(_record(more))(value) == {"a": value}
    if digits:
        assert compile_event_decoder(_record(most))(value) == {"a": Decimal(-1)}
