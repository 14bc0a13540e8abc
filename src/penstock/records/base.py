"""Base fields: fields that every event has, required and first in each schema version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.records.shape import READING, RowShape
from penstock.schemas import avro_name


def base_fields(shape: RowShape) -> tuple[dict[str, Any], ...]:
    """Return the base fields in Avro: the key if it is one field, and the event time if any."""
    fields: list[dict[str, Any]] = []
    if len(shape.key) == 1:
        fields.append(_field(shape.key[0], "string"))
    if shape.event_time is not None:
        fields.append(_field(shape.event_time, "long"))  # milliseconds since 1970
    return tuple(fields)


def _field(json_name: str, type_: str) -> dict[str, Any]:
    name = avro_name(json_name)
    field = {"name": name, "type": type_}
    return field if name == json_name else field | {"jsonName": json_name}


def list_key_fields(shape: RowShape) -> tuple[str, ...]:
    """Return the fields of events that keys of rows, and their order, are made of."""
    return (*shape.key, *shape.sort, *shape.order)


def find_key(shape: RowShape, event: Any, default: str) -> str:
    """Return the event's first key field if it is a string, else the default.

    The default is only for shapes with the key of a reading; for others it is empty.
    """
    named = event.get(shape.key[0]) if isinstance(event, Mapping) else None
    if isinstance(named, str):
        return named
    return default if shape.key == READING.key else ""


def make_base(shape: RowShape, key: str, timestamp: int) -> dict[str, Any]:
    """Return the base fields for an event: the key, if it is one field, and the timestamp."""
    base: dict[str, Any] = {shape.key[0]: key} if key and len(shape.key) == 1 else {}
    return base if shape.event_time is None else base | {shape.event_time: timestamp}
