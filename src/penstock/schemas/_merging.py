"""The rules that merge several types into one, by kind of type and field by field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.errors import SchemaConflictError
from penstock.schemas._families import conflict, families
from penstock.schemas._types import NUMBERS, AvroField, AvroType

_NULL = AvroType("null")


def merge_types(types: Sequence[AvroType], path: str) -> AvroType:
    """Merge the types that the versions have at this path.

    Raises:
        SchemaConflictError: no type can hold the values of all of them unchanged.
    """
    groups = families(types, path)
    merged = [_merge_family(group, path) for group in groups if group[0].kind != "null"]
    merged.sort(key=lambda branch: (branch.kind, branch.name))
    if len(merged) < len(groups):
        merged.insert(0, _NULL)
    return merged[0] if len(merged) == 1 else AvroType("union", branches=tuple(merged))


def _merge_family(group: Sequence[AvroType], path: str) -> AvroType:
    first = group[0]
    for other in group[1:]:
        if other.logical != first.logical or other.size != first.size:
            raise conflict(first, other, path)
    attributes = _shared([each.attributes for each in group])
    kind = _widest({each.kind for each in group})
    if first.item is not None:
        inside = f"{path}{'[]' if kind == 'array' else '{}'}"
        items = [each.item for each in group if each.item is not None]
        return AvroType(kind, item=merge_types(items, inside), attributes=attributes)
    if not first.name:
        return AvroType(kind, attributes=attributes)
    name, aliases = _merge_names(group)
    symbols = tuple(dict.fromkeys(symbol for each in group for symbol in each.symbols))
    fields = _merge_fields(group, path) if kind == "record" else ()
    return AvroType(
        kind, name, aliases, fields, symbols=symbols, size=first.size, attributes=attributes
    )


def _widest(kinds: set[str]) -> str:
    """Return the smallest type that holds all kinds; a float and an integer widen to double."""
    if "float" in kinds and kinds & {"int", "long"}:
        return "double"
    return max(kinds, key=lambda kind: NUMBERS.index(kind) if kind in NUMBERS else 0)


def _merge_names(group: Sequence[AvroType]) -> tuple[str, tuple[str, ...]]:
    """Choose a name that is no version's alias; the other names become aliases, so all are read."""
    names = {each.name for each in group}
    aliases = {alias for each in group for alias in each.aliases}
    renamed = {alias.rpartition(".")[2] for alias in aliases}
    current = {each.name for each in group if each.short_name not in renamed} or names
    chosen = min(current)
    return chosen, tuple(sorted((names | aliases) - {chosen}))


def _merge_fields(records: Sequence[AvroType], path: str) -> tuple[AvroField, ...]:
    found: dict[str, list[AvroField]] = {}
    for record in records:
        for field in record.fields:
            found.setdefault(field.name, []).append(field)
    merged = [_merge_field(each, len(records), path) for each in found.values()]
    # Optional fields are sorted, so that their order does not depend on the order of the versions.
    required = [field for field in merged if not field.type.nullable]
    optional = [field for field in merged if field.type.nullable]
    return (*required, *sorted(optional, key=lambda field: field.name))


def _merge_field(fields: list[AvroField], records: int, path: str) -> AvroField:
    name = fields[0].name
    inside = f"{path}.{name}" if path else name
    for other in fields[1:]:
        if other.json_name != fields[0].json_name:
            raise SchemaConflictError(
                f"{inside}: it stands for the JSON name {fields[0].json_name!r} in one version "
                f"and for {other.json_name!r} in another, expected one name",
                path=inside,
            )
    types = [field.type for field in fields]
    type_ = merge_types(types if len(fields) == records else [*types, _NULL], inside)
    # A reader fills a field that the writer does not have with the default. Any default but null
    # would invent a value.
    attributes = _shared([field.attributes for field in fields])
    attributes.pop("default", None)
    if type_.nullable:
        attributes = {"default": None, **attributes}
    return AvroField(name, type_, attributes=attributes)


def _shared(attributes: Sequence[Any]) -> dict[str, Any]:
    """Return the attributes that are equal in all of them."""
    first, *others = attributes
    return {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in others)
    }
