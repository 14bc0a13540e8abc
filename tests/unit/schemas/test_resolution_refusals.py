"""What one schema's bytes cannot be in another: nothing is rounded, and each conflict is named."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import (
    InvalidTextError,
    LossyWideningError,
    PayloadLimitError,
    SchemaConflictError,
)
from penstock.schemas import check_compatibility, encode
from penstock.schemas.codec import compile_decoder
from tests.unit.schemas.writing import ENUM, field, read, record


@pytest.mark.parametrize(
    ("writer", "value", "reader"),
    [
        ("long", 2**53 + 1, "double"),
        ("long", -(2**53) - 1, "double"),
        ("long", 2**60, "double"),
        ("long", 2**24 + 1, "float"),
        ("int", -(2**24) - 1, "float"),
        (["null", "long"], 2**63 - 1, ["null", "double"]),
    ],
)
def test_a_number_that_would_be_rounded_is_rejected(writer: Any, value: int, reader: Any) -> None:
    schemas = record(field(writer)), record(field(reader))

    with pytest.raises(
        LossyWideningError,
        match=rf"^a: found {value} at byte \d, which a (double|float) would round, "
        r"expected -\d+ to \d+$",
    ):
        read({"a": value}, *schemas)


def test_bytes_that_are_not_utf8_are_rejected() -> None:
    with pytest.raises(InvalidTextError, match=r"^found 0xff at byte 1, expected UTF-8"):
        read(b"\xff", "bytes", "string")


@pytest.mark.parametrize(
    ("writer", "reader", "message"),
    [
        ("string", "long", "the schema: the writer has string, the reader long"),
        ("double", "long", "the schema: the writer has double, the reader long"),
        ("long", ["null", "string"], "the schema: the writer has long, the reader string (opt"),
        (ENUM, ENUM | {"name": "D"}, "the schema: the writer has enum E [A, B, C], the reader"),
        (
            {"type": "fixed", "name": "F", "size": 1},
            {"type": "fixed", "name": "F", "size": 2},
            "the schema: the writer has fixed F(1), the reader fixed F(2)",
        ),
        (record(), record(name="S"), "the schema: the writer has record R, the reader record S"),
        (
            record(field({"type": "array", "items": record(field("int"), name="S")})),
            record(field({"type": "array", "items": record(field("string"), name="S")})),
            "a[].a: the writer has int, the reader string",
        ),
        (
            {"type": "map", "values": "int"},
            {"type": "map", "values": "string"},
            "{}: the writer has int, the reader string",
        ),
        (
            record(),
            record(field("int")),
            "a: the writer does not have the field and the reader has no default",
        ),
        (
            record(field("int"), field("int", "b")),
            record(field("int", aliases=["b"])),
            "a: the writer's a and b match more than one field",
        ),
        (
            record(field("int")),
            record(field("int", "b", aliases=["a"]), field("int", "c", aliases=["a"])),
            "c: the writer's a match more than one field",
        ),
    ],
)
def test_a_conflict_has_its_path_and_types(writer: Any, reader: Any, message: str) -> None:
    with pytest.raises(SchemaConflictError) as caught:
        compile_decoder(writer, reader)

    assert str(caught.value).startswith(message)
    assert caught.value.path == message.partition(":")[0].removeprefix("the schema")


def test_a_missing_branch_is_rejected_when_a_value_has_it() -> None:
    writer, reader = record(field(["null", "string", "long"])), record(field(["null", "long"]))
    assert check_compatibility(reader, writer)

    assert read({"a": 7}, writer, reader) == {"a": 7}
    with pytest.raises(
        SchemaConflictError,
        match=r"^a: found a value of string, which the reader cannot take "
        r"\(a: the writer has string, the reader long \(optional\)\)$",
    ):
        read({"a": "x"}, writer, reader)


def test_a_missing_symbol_is_rejected_when_a_value_has_it() -> None:
    writer, reader = record(field(ENUM)), record(field(ENUM | {"symbols": ["A"]}))

    assert read({"a": "A"}, writer, reader) == {"a": "A"}
    with pytest.raises(
        SchemaConflictError,
        match=r"^a: symbol B is not among the reader's, which name no default$",
    ):
        read({"a": "B"}, writer, reader)


def _listed(item: Any, *missing: Any) -> tuple[Any, Any]:
    """Return a list of records as written, and as read with these fields in addition."""
    grown = item | {"fields": [*item["fields"], *missing]}
    return {"type": "array", "items": item}, {"type": "array", "items": grown}


def test_defaults_that_are_filled_in_count_as_values() -> None:
    thousand = [field(["null", "int"], f"f{number}", default=None) for number in range(998)]
    writer, reader = _listed(record(field("boolean"), name="I"), *thousand)
    read = compile_decoder(writer, reader)

    for _ in range(2):  # each payload has its own budget
        assert len(read(encode([{"a": True}] * 500, writer))) == 500
        with pytest.raises(PayloadLimitError, match=r"^\[499\]: found more than 500,000 values"):
            read(encode([{"a": True}] * 501, writer))


def test_every_value_of_a_default_counts() -> None:
    lists = {"type": "array", "items": {"type": "map", "values": "int"}}
    thousand = field(lists, "b", default=[{"k": 1}] * 498 + [{}])
    writer, reader = _listed(record(field("boolean"), name="I"), thousand)
    read = compile_decoder(writer, reader)

    assert read(encode([{"a": True}] * 500, writer))[-1]["b"] == thousand["default"]
    with pytest.raises(PayloadLimitError, match=r"^\[499\]: found more than 500,000 values"):
        read(encode([{"a": True}] * 501, writer))
