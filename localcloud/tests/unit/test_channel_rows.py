"""JSON schemas as columns, and records as rows, as AWS's table of types has them."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from decimal import Decimal

import pytest

from localcloud.services.kafka.channels.columns import SchemaError, read_schema
from localcloud.services.kafka.channels.rows import RowError, read_row

_AT = {"type": "string", "format": "date-time"}
# The JSON schema of a field, its Iceberg type, a value, what it becomes, a value that it refuses.
_FIELDS = [
    ({"type": "string"}, "string", "a", "a", 1),
    ({"enum": ["a", "b"]}, "string", "a", "a", True),
    (
        _AT,
        "timestamptz",
        "2026-01-02T03:04:05+01:00",
        dt.datetime(2026, 1, 2, 2, 4, 5, tzinfo=dt.UTC),
        "2026-01-02T03:04:05",
    ),
    ({"type": "string", "format": "date"}, "date", "2026-01-02", dt.date(2026, 1, 2), "January"),
    ({"type": "string", "format": "time"}, "time", "03:04:05", dt.time(3, 4, 5), "noon"),
    (
        {"type": "string", "format": "uuid"},
        "uuid",
        str(uuid.UUID(int=7)),
        uuid.UUID(int=7).bytes,
        "7",
    ),
    ({"type": "string", "format": "byte"}, "binary", "YQ==", b"a", "?"),
    ({"type": "string", "contentEncoding": "base64"}, "binary", "YQ==", b"a", "a"),
    ({"type": "integer"}, "int", 1, 1, 2**31),
    ({"type": "integer"}, "int", -1, -1, 1.5),
    ({"type": "integer", "maximum": 2**40}, "long", 2**40, 2**40, 2**63),
    ({"type": "number", "multipleOf": 0.001}, "decimal(38, 3)", 1.5, Decimal("1.500"), 0.0001),
    ({"type": "number"}, "double", 1, 1.0, "1"),
    ({"type": "boolean"}, "boolean", True, True, 1),
    ({"type": ["null", "boolean"]}, "boolean", None, None, "true"),
    (
        {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        "struct<4: x: required int>",
        {"x": 1, "y": 2},
        {"x": 1},
        {"y": 2},
    ),
    (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        "map<string, int>",
        {"k": 1},
        [("k", 1)],
        {"k": "1"},
    ),
    ({"type": "array", "items": {"type": "integer"}}, "list<int>", [1, None], [1, None], ["1"]),
]


def _define(field):
    return json.dumps({"type": "object", "properties": {"at": _AT, "field": field}})


@pytest.mark.parametrize(("field", "kind", "value", "expected", "refused"), _FIELDS)
def test_a_field_is_a_column(field, kind, value, expected, refused):
    schema = read_schema(_define(field), "at")
    if "struct" not in kind:
        assert str(schema.find_type("field")) == kind
    assert schema.find_field("at").required
    at = "2026-01-01T00:00:00Z"

    row = read_row(json.dumps({"at": at, "field": value, "more": 1}).encode(), schema)

    assert row["field"] == expected
    assert set(row) == {"at", "field"}
    with pytest.raises(RowError, match=r"value\.field"):
        read_row(json.dumps({"at": at, "field": refused}).encode(), schema)


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ("{", "cannot be read"),
        ('{"type": "string"}', "no object with properties"),
        (_define({"type": ["string", "integer"]}), "schema.field has a type"),
        (_define({"$ref": "#/x"}), "schema.field has a type"),
    ],
)
def test_a_schema_without_a_table_is_refused(definition, said):
    with pytest.raises(SchemaError, match=said):
        read_schema(definition, "at")


def test_a_schema_has_16_levels():
    def nest(levels):
        inner = {"type": "string"}
        for _ in range(levels):
            inner = {"type": "object", "properties": {"x": inner}}
        return inner

    read_schema(_define(nest(15)), "at")
    with pytest.raises(SchemaError, match="deeper than 16 levels"):
        read_schema(_define(nest(16)), "at")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "MalformedRecord"),
        (b"\xff", "MalformedRecord"),
        (b"null", "TypeMismatch"),
        (b"[]", "TypeMismatch"),
        (b"{}", "MissingRequiredField"),
        (b'{"at": null}', "MissingRequiredField"),
    ],
)
def test_a_record_that_does_not_conform_fails_with_its_code(value, code):
    with pytest.raises(RowError) as refused:
        read_row(value, read_schema(_define({"type": "string"}), "at"))
    assert refused.value.code == code
