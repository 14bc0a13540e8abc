"""The differences between two schemas, as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.schemas._types import AvroType, resolve
from penstock.schemas.definition import Schema, canonical_form


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One change; `before` and `after` name the type, or are empty if there is no such field."""

    path: str
    before: str
    after: str

    def __str__(self) -> str:
        """Return one line, such as `+ temperature: long (optional)` or `~ a.b: long -> double`."""
        if not self.before:
            return f"+ {self.path}: {self.after}"
        if not self.after:
            return f"- {self.path}: {self.before}"
        return f"~ {self.path}: {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class SchemaDiff:
    """All changes from one schema to another, in the order of the fields."""

    changes: tuple[SchemaChange, ...]
    equal: bool

    def __str__(self) -> str:
        """Return a line for each change."""
        if self.equal:
            return "the schemas are equal"
        if not self.changes:
            return "the schemas differ only in attributes or in the order of their parts"
        return "\n".join(str(change) for change in self.changes)


def diff_schemas(before: Schema, after: Schema) -> SchemaDiff:
    """Compare two schemas field by field."""
    changes = tuple(_diff_types(resolve(before), resolve(after), ""))
    return SchemaDiff(changes, canonical_form(before) == canonical_form(after))


def _diff_types(before: AvroType, after: AvroType, path: str) -> Iterator[SchemaChange]:
    if before.describe() != after.describe():
        yield SchemaChange(path or "the schema", before.describe(), after.describe())
    old, new = _parts(before), _parts(after)
    if old is None or new is None:
        return
    for key, was in old.items():
        inside = f"{path}{key}".removeprefix(".")
        if key in new:
            yield from _diff_types(was, new[key], inside)
        else:
            yield SchemaChange(inside, was.label(), "")
    for key, now in new.items():
        if key not in old:
            yield SchemaChange(f"{path}{key}".removeprefix("."), "", now.label())


def _parts(type_: AvroType) -> dict[str, AvroType] | None:
    """Return the fields of the records inside a type by path; None if there is no record."""
    if type_.kind == "record":
        return {f".{field.name}": field.type for field in type_.fields}
    mark = {"array": "[]", "map": "{}"}.get(type_.kind, "")
    inside = [parts for child in type_.children() if (parts := _parts(child)) is not None]
    return {f"{mark}{key}": part for parts in inside for key, part in parts.items()} or (
        {} if inside else None
    )
