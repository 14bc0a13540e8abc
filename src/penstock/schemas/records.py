"""Events to the records that Avro encodes, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.schemas._conversion import convert
from penstock.schemas._types import AvroType, resolve
from penstock.schemas.definition import Schema


def to_record(
    event: Mapping[str, Any], schema: Schema, defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Convert an event to the record that `encode` takes with the schema.

    What the event lacks comes from `defaults` (the base fields, of which the event's own win) or
    is null. Raises EventValueError where a value is not of its field's type, or would be rounded.
    """
    record: dict[str, Any] = convert({**(defaults or {}), **event}, resolve(schema), "")
    return record


def from_record(record: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Convert a decoded record back to an event: JSON names, and no field that is null.

    A null and an absent field are the same to a record. Items of a list stay where they are.
    """
    event: dict[str, Any] = _restore(record, resolve(schema))
    return event


def _restore(value: Any, type_: AvroType) -> Any:
    if value is None:
        return None
    if type_.kind == "union":
        return _restore(value, _branch(value, type_))
    if type_.kind == "record":
        fields = [field for field in type_.fields if value.get(field.name) is not None]
        return {field.json_name: _restore(value[field.name], field.type) for field in fields}
    if type_.kind == "array" and type_.item is not None:
        return [_restore(item, type_.item) for item in value]
    if type_.kind == "map" and type_.item is not None:
        return {key: _restore(item, type_.item) for key, item in value.items()}
    return value


def _branch(value: Any, union: AvroType) -> AvroType:
    """Choose the branch that a decoded value is of, as far as names in it depend on that."""
    return next((branch for branch in union.branches if _may_be(value, branch)), union.branches[0])


def _may_be(value: Any, type_: AvroType) -> bool:
    if isinstance(value, Mapping):
        fields = {field.name for field in type_.fields}
        return type_.kind == "map" or (type_.kind == "record" and value.keys() == fields)
    if isinstance(value, list):
        return type_.kind == "array"
    return not type_.children()
