"""The schema that can hold what every version of a schema wrote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.errors import SchemaConflictError
from penstock.schemas._families import conflict, families
from penstock.schemas._types import NUMBERS, AvroField, AvroType, resolve
from penstock.schemas._unify import unify_names
from penstock.schemas._writing import to_schema
from penstock.schemas.definition import Schema

_NULL = AvroType("null")


def merge_schemas(versions: Iterable[Schema]) -> Schema:
    """Merge versions into the reader schema for all of them; the order of fields is the first's.

    A field that one version lacks becomes optional, numbers widen (int, long, double; float,
    double), enums take every symbol. Raises SchemaConflictError, with the path and both types,
    where no type can hold both without changing a value.
    """
    types = [resolve(version) for version in versions]
    if not types:
        raise ValueError("no versions to merge, expected at least one")
    return to_schema(unify_names(_merge_types(types, ""), _merge_types))


def _merge_types(types: Sequence[AvroType], path: str) -> AvroType:
    """Merge what each version has at this path."""
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
        return AvroType(kind, item=_merge_types(items, inside), attributes=attributes)
    if not first.name:
        return AvroType(kind, attributes=attributes)
    name, aliases = _merge_names(group)
    symbols = tuple(dict.fromkeys(symbol for each in group for symbol in each.symbols))
    fields = _merge_fields(group, path) if kind == "record" else ()
    return AvroType(
        kind, name, aliases, fields, symbols=symbols, size=first.size, attributes=attributes
    )


def _widest(kinds: set[str]) -> str:
    """Give the smallest type that holds all these: a float and an integer only meet in double."""
    if "float" in kinds and kinds & {"int", "long"}:
        return "double"
    return max(kinds, key=lambda kind: NUMBERS.index(kind) if kind in NUMBERS else 0)


def _merge_names(group: Sequence[AvroType]) -> tuple[str, tuple[str, ...]]:
    """Choose a name nobody calls an alias; the others become aliases, so that all are read."""
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
    return tuple(_merge_field(each, len(records), path) for each in found.values())


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
    type_ = _merge_types(types if len(fields) == records else [*types, _NULL], inside)
    # A reader's default fills what a writer lacks, and the only thing a version lacks without
    # knowing is a value: any default but null would invent one.
    attributes = _shared([field.attributes for field in fields])
    attributes.pop("default", None)
    if type_.nullable:
        attributes = {"default": None, **attributes}
    return AvroField(name, type_, attributes=attributes)


def _shared(attributes: Sequence[Any]) -> dict[str, Any]:
    """Keep the attributes on which all agree."""
    first, *others = attributes
    return {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in others)
    }
