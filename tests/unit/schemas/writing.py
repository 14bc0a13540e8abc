"""Schemas in few words, and values that are written under one and read under another."""

from __future__ import annotations

from typing import Any

from penstock.schemas import decode, encode

ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}


def record(*fields: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    """A record of these fields."""
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(type_: Any, name: str = "a", **more: Any) -> dict[str, Any]:
    """A field of a record."""
    return {"name": name, "type": type_, **more}


def nested(depth: int) -> Any:
    """A whole number inside this many arrays."""
    schema: Any = "long"
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def read(value: Any, writer: Any, reader: Any) -> Any:
    """Write a value under one schema and read it under the other."""
    return decode(encode(value, writer), writer, reader)
