"""The conversion of events to the records that Avro encodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.schemas._conversion import convert
from penstock.schemas._types import AvroType, resolve
from penstock.schemas.definition import Schema


def to_record(
    event: Mapping[str, Any], schema: Schema, defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Convert an event to a record that `encode` takes with the schema.

    A field that the event lacks comes from `defaults` (the base fields) or is null; the event's
    own fields take precedence.

    Raises:
        EventValueError: a value is not of its field's type, or would be rounded.
    """
    record: dict[str, Any] = convert({**(defaults or {}), **event}, resolve(schema), "")
    return record


def from_record(record: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Convert a decoded record back to an event, with JSON names and without null fields.

    A record does not distinguish a null field from a missing one. Null items of a list are kept.
    """
    return compile_restorer(schema)(record)


def compile_restorer(schema: Schema) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a function that converts many records of a checked schema to events."""
    restore: Callable[[Any], Any] = _compile(resolve(schema)) or _as_it_is
    return restore


def _as_it_is(value: Any) -> Any:
    return value


def _compile(type_: AvroType) -> Callable[[Any], Any] | None:
    """Return the function that converts values of a type; None if they are not changed."""
    if type_.kind == "union":
        return _compile_union(type_)
    if type_.kind == "record":
        return _compile_record(type_)
    item = _compile(type_.item) if type_.item is not None else None
    if item is None:
        return None
    if type_.kind == "array":
        return lambda value: [None if each is None else item(each) for each in value]
    return lambda value: {key: None if each is None else item(each) for key, each in value.items()}


def _compile_record(type_: AvroType) -> Callable[[Any], Any]:
    fields = [(field.name, field.json_name, _compile(field.type)) for field in type_.fields]

    def restore(value: Any) -> Any:
        event = {}
        for name, json_name, convert_value in fields:
            found = value.get(name)
            if found is not None:
                event[json_name] = found if convert_value is None else convert_value(found)
        return event

    return restore


def _compile_union(union: AvroType) -> Callable[[Any], Any] | None:
    branches = [(_matcher(branch), _compile(branch)) for branch in union.branches]
    if all(convert_value is None for _, convert_value in branches):
        return None

    def restore(value: Any) -> Any:
        """Convert a decoded value with the first branch that matches it."""
        for matches, convert_value in branches:
            if matches(value):
                return value if convert_value is None else convert_value(value)
        return value

    return restore


def _matcher(type_: AvroType) -> Callable[[Any], bool]:
    if type_.kind == "record":
        fields = {field.name for field in type_.fields}
        return lambda value: isinstance(value, Mapping) and value.keys() == fields
    if type_.kind == "map":
        return lambda value: isinstance(value, Mapping)
    if type_.kind == "array":
        return lambda value: isinstance(value, list)
    return lambda value: not isinstance(value, Mapping | list)
