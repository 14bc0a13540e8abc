"""One value at a time: the schema is compiled as it is when it is given."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import InvalidSchemaError
from penstock.schemas import decode, encode


def _schema(type_: Any = "long") -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": "a", "type": type_}]}


def test_sees_that_a_schema_was_changed() -> None:
    writer, reader = _schema(), _schema()
    payload = encode({"a": 1}, writer)
    assert decode(payload, writer, reader) == {"a": 1}

    reader["fields"][0]["type"] = "double"
    assert str(decode(payload, writer, reader)) == "{'a': 1.0}"

    writer["fields"].append({"name": "b", "type": "string"})
    assert encode({"a": 1, "b": "x"}, writer) == payload + b"\x02x"


def test_many_schemas_in_turn_are_not_mixed_up() -> None:
    for type_, value in [("long", 1), ("string", "x"), ("boolean", True)] * 50:
        assert decode(encode({"a": value}, _schema(type_)), _schema(type_)) == {"a": value}


def test_a_schema_that_is_refused_is_refused_again() -> None:
    schema = _schema("strng")

    for _ in range(2):
        with pytest.raises(InvalidSchemaError, match="found 'strng', expected a primitive type"):
            encode({"a": 1}, schema)


def test_a_schema_too_deep_to_be_copied_is_refused() -> None:
    deep: Any = "long"
    for _ in range(50_000):
        deep = [deep]

    with pytest.raises(
        InvalidSchemaError, match="the schema is not a JSON value: maximum recursion"
    ):
        decode(b"", deep)
