"""Compiled codecs: found again while a schema is the same, made anew when it is not."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from penstock.errors import InvalidSchemaError
from penstock.schemas import codec, decode, encode


def _schema(type_: Any = "long") -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": "a", "type": type_}]}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect the schemas that are compiled, starting with none."""
    seen: list[Any] = []
    check = codec.check_schema
    monkeypatch.setattr(codec, "check_schema", lambda each: (seen.append(each), check(each)))
    monkeypatch.setattr(codec, "_compiled", {})
    return seen


def test_compiles_a_schema_once(compiled: list[Any]) -> None:
    schema = _schema()

    payloads = [encode({"a": number}, schema) for number in range(5)]
    values = [decode(payload, schema) for payload in payloads]

    assert values == [{"a": number} for number in range(5)]
    assert compiled == [schema] * 2  # for writing, and for reading


def test_compiles_each_pair_of_schemas_once(compiled: list[Any]) -> None:
    writer, reader = _schema(), _schema("double")
    payload = encode({"a": 1}, writer)

    for _ in range(3):
        assert decode(payload, writer) == {"a": 1}
        assert decode(payload, writer, reader) == {"a": 1.0}

    assert len(compiled) == 1 + 1 + 2


def test_sees_that_a_schema_was_changed() -> None:
    writer, reader = _schema(), _schema()
    payload = encode({"a": 1}, writer)
    assert decode(payload, writer, reader) == {"a": 1}

    reader["fields"][0]["type"] = "double"
    assert str(decode(payload, writer, reader)) == "{'a': 1.0}"

    writer["fields"].append({"name": "b", "type": "string"})
    assert encode({"a": 1, "b": "x"}, writer) == payload + b"\x02x"


def test_a_schema_that_is_gone_leaves_its_place_to_nobody() -> None:
    for type_, value in [("long", 1), ("string", "x"), ("boolean", True)] * 50:
        assert decode(encode({"a": value}, _schema(type_)), _schema(type_)) == {"a": value}


def test_keeps_no_more_than_so_many(compiled: list[Any]) -> None:
    schema = _schema()
    for _ in range(3 * codec._MAX_COMPILED):
        encode({"a": 1}, copy.deepcopy(schema))
        assert len(codec._compiled) <= codec._MAX_COMPILED


def test_a_schema_that_is_refused_is_refused_again() -> None:
    schema = _schema("strng")

    for _ in range(2):
        with pytest.raises(InvalidSchemaError, match="found 'strng', expected a primitive type"):
            encode({"a": 1}, schema)


def test_a_schema_too_deep_to_be_copied_is_refused() -> None:
    deep: Any = "long"
    for _ in range(50_000):
        deep = [deep]

    with pytest.raises(InvalidSchemaError, match="the schema is no JSON value: maximum recursion"):
        decode(b"", deep)


def test_threads_share_what_is_compiled() -> None:
    schemas = [_schema(type_) for type_ in ("long", "double", ["null", "long"])]

    def work(number: int) -> bool:
        schema = schemas[number % 3]
        return bool(decode(encode({"a": number}, schema), schema) == {"a": number})

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(600)))
