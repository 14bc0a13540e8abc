"""The limits of a schema that bound its decoder: its depth, its width, and a byte for each item.

A block of an array can claim 200 million items in six bytes. The decoder rejects a block with more
items than bytes, so each item must take at least one byte. A `null` or an empty record takes no
byte: a record with one int and a thousand nulls makes a thousand values of a single byte. So array
items and map values must not contain values that take no bytes. A map value itself may be null,
because its key takes a byte.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import InvalidSchemaError, SchemaLimitError
from penstock.schemas._defaults import DefaultReader
from penstock.schemas._errors import place
from penstock.schemas._json import MAX_DEPTH
from penstock.schemas._shape import too_deep
from penstock.schemas._types import PRIMITIVES, AvroField, AvroType

MAX_DEFINITION_CHARACTERS = 170_000  # Glue's limit
MAX_FIELDS = 10_000  # the fields of a type that is used twice count twice


@dataclass(frozen=True, slots=True)
class _Extent:
    """The depth and width of a type, and whether its values contain some that take no bytes."""

    depth: int
    width: int
    has_empty_values: bool


_LEAVES = PRIMITIVES - {"null"}
_LEAF = _Extent(depth=0, width=0, has_empty_values=False)


def check_limits(root: AvroType) -> None:
    """Raise if a schema exceeds a limit, or if a default is not a value of its type.

    A type that is referenced twice is one object. It is measured once, and its width counts twice.

    Raises:
        SchemaLimitError: too deep, too many fields, or too many defaults to check.
        InvalidSchemaError: items that take no bytes, or a default that its type cannot hold.
    """
    _measure(root, "", {})
    _check_defaults(root, "", DefaultReader(), set())


def _measure(type_: AvroType, path: str, known: dict[int, _Extent]) -> _Extent:
    if type_.kind in _LEAVES:
        return _LEAF
    if id(type_) not in known:
        known[id(type_)] = _measure_type(type_, path, known)
    return known[id(type_)]


def _measure_type(type_: AvroType, path: str, known: dict[int, _Extent]) -> _Extent:
    parts = [_measure(part, inside, known) for part, inside in _parts(type_, path)]
    extent = _Extent(
        depth=(type_.kind in {"record", "array", "map"}) + max((p.depth for p in parts), default=0),
        width=len(type_.fields) + sum(part.width for part in parts),
        has_empty_values=_has_empty_values(type_, parts),
    )
    if extent.depth > MAX_DEPTH:
        raise too_deep(path)
    if extent.width > MAX_FIELDS:
        raise SchemaLimitError(
            f"{place(path)}: {extent.width:,} fields, expected at most {MAX_FIELDS:,}"
        )
    is_key_enough = type_.kind == "map" and not parts[0].width
    if type_.item is not None and parts[0].has_empty_values and not is_key_enough:
        raise InvalidSchemaError(
            f"{place(path)}: found {type_.label()} with values that take no bytes, expected each "
            "value inside an array or a map to take one"
        )
    return extent


def _parts(type_: AvroType, path: str) -> list[tuple[AvroType, str]]:
    """Return the types directly inside a type, each with its path."""
    if type_.item is not None:
        return [(type_.item, f"{path}{'[]' if type_.kind == 'array' else '{}'}")]
    parts = [(branch, path) for branch in type_.branches]
    parts += [(field.type, _field_path(path, field)) for field in type_.fields]
    return parts


def _field_path(path: str, field: AvroField) -> str:
    return f"{path}.{field.name}" if path else field.name


def _check_defaults(type_: AvroType, path: str, reader: DefaultReader, seen: set[int]) -> None:
    if id(type_) in seen:
        return
    seen.add(id(type_))
    for field in type_.fields:
        if "default" in field.attributes:
            reader.read(field.type, field.attributes["default"], _field_path(path, field))
    for part, inside in _parts(type_, path):
        _check_defaults(part, inside, reader, seen)


def _has_empty_values(type_: AvroType, parts: list[_Extent]) -> bool:
    match type_.kind:
        case "null":
            return True
        case "fixed":
            return type_.size == 0
        case "record":
            return not parts or any(part.has_empty_values for part in parts)
        case "union":  # the branch number takes a byte, so a branch like null does not count
            return any(part.has_empty_values and part.width for part in parts)
        case _:
            return False
