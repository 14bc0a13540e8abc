"""The conversion of a schema's graph to plain JSON values, with each named type defined once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import SchemaConflictError
from penstock.schemas._types import AvroField, AvroType

if TYPE_CHECKING:  # definition.py writes the canonical form with this
    from penstock.schemas.definition import Schema


def to_schema(type_: AvroType) -> Schema:
    """Return the type as a schema in normal form: full names, attributes in a fixed order."""
    return _write_type(type_, set(), "")


def _write_type(type_: AvroType, defined: set[str], space: str) -> Schema:
    if type_.kind == "union":
        return [_write_type(branch, defined, space) for branch in type_.branches]
    if type_.name:
        return _write_named(type_, defined, space)
    attributes: dict[str, Any] = _ordered(type_.attributes)
    if type_.item is not None:
        key = "items" if type_.kind == "array" else "values"
        return {"type": type_.kind, key: _write_type(type_.item, defined, space), **attributes}
    return {"type": type_.kind, **attributes} if attributes else type_.kind


def _write_named(type_: AvroType, defined: set[str], space: str) -> Schema:
    if type_.name in defined:
        _check_reference(type_.name, defined, space)
        return type_.name
    defined.add(type_.name)
    own_space = type_.name.rpartition(".")[0]
    schema: dict[str, Any] = {"type": type_.kind, "name": type_.name}
    if space and not own_space:
        schema["namespace"] = ""  # or the name would inherit the enclosing namespace
    if type_.aliases:
        schema["aliases"] = list(type_.aliases)
    if type_.kind == "record":
        schema["fields"] = [_write_field(each, defined, own_space) for each in type_.fields]
    elif type_.kind == "enum":
        schema["symbols"] = list(type_.symbols)
    else:
        schema["size"] = type_.size
    schema.update(_ordered(type_.attributes))
    return schema


def _check_reference(name: str, defined: set[str], space: str) -> None:
    """Raise SchemaConflictError if the name would stand for another type, after a merge moved it.

    Inside a namespace Avro has no reference to a name without one if the namespace has it too.
    """
    if space and "." not in name and f"{space}.{name}" in defined:
        raise SchemaConflictError(
            f"the type {name} is used inside the namespace {space}, where {name} stands for "
            f"{space}.{name}, expected types with different names",
            path=name,
        )


def _write_field(field: AvroField, defined: set[str], space: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"name": field.name, "type": _write_type(field.type, defined, space)}
    if field.aliases:
        schema["aliases"] = list(field.aliases)
    schema.update(_ordered(field.attributes))
    return schema


def _ordered(value: Any) -> Any:
    """Return the value with the keys of every object sorted."""
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    if hasattr(value, "items"):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return value
