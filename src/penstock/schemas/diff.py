"""The differences between two schemas, as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from penstock.schemas._types import AvroType, resolve
from penstock.schemas.definition import Schema, canonical_form
from penstock.schemas.names import join_path

_MARKS: Final = {"array": "[]", "map": "{}"}


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One change by its path in JSON; `before` or `after` is empty if there is no such field."""

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
    old, new = _parts(before, path), _parts(after, path)
    if old is None or new is None:
        return
    for name, (inside, was) in old.items():
        if name in new:
            yield from _diff_types(was, new[name][1], inside)
        else:
            yield SchemaChange(inside, was.label(), "")
    for name, (inside, now) in new.items():
        if name not in old:
            yield SchemaChange(inside, "", now.label())


def _parts(type_: AvroType, path: str) -> dict[str, tuple[str, AvroType]] | None:
    """Return the fields of the records inside a type by Avro name, each with its path in JSON.

    None if there is no record.
    """
    if type_.kind == "record":
        return {each.name: (join_path(path, each.json_name), each.type) for each in type_.fields}
    inside = f"{path}{_MARKS.get(type_.kind, '')}"
    found = [parts for child in type_.children() if (parts := _parts(child, inside)) is not None]
    merged = {name: part for parts in found for name, part in parts.items()}
    return merged if found else None
