"""The fields that have a value in every record of a schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from penstock.schemas._types import AvroType, resolve
from penstock.schemas.definition import Schema


class FieldName(NamedTuple):
    """The names of a field, in Avro and in JSON."""

    name: str
    json_name: str


Path = tuple[FieldName, ...]


def list_required(schema: Schema) -> tuple[Path, ...]:
    """Return the paths of fields that are not null where their record is not null.

    Fields inside of arrays, of maps and of unions of several types are left out.
    """
    return tuple(_find_required(resolve(schema), ()))


def list_fields(schema: Schema) -> frozenset[FieldName]:
    """Return the names of the fields of a record."""
    return frozenset(FieldName(each.name, each.json_name) for each in resolve(schema).fields)


def _find_required(record: AvroType, path: Path) -> Iterator[Path]:
    for field in record.fields:
        inside = (*path, FieldName(field.name, field.json_name))
        members = [each for each in field.type.branches if each.kind != "null"]
        if field.type.kind != "null" and not field.type.nullable:
            yield inside
        yield from _find_required(members[0] if len(members) == 1 else field.type, inside)
