"""The columns of the events of a merged schema.

| Avro                                       | column                                      |
| ------------------------------------------ | ------------------------------------------- |
| int, long, float, double                   | int, bigint, float, double                  |
| string, enum                               | string                                      |
| bytes, fixed                               | binary, or decimal(P,S) of up to 38 digits  |
| date                                       | date                                        |
| timestamp-millis, timestamp-micros         | timestamp                                   |
| local-timestamp-millis, -micros            | timestamp_ntz                               |
| record, array, map                         | struct, array, map<string,...>              |
| a union of null and one type               | the column of that type                     |
| a union of more types                      | struct<member_string:...,member_a_R:...>    |

A member of a union has the name of its branch: of the type, or the full name of a record, enum or
fixed (`a.R`). A type of several names, as its versions and aliases give it, has a member for each.
All types of numbers are one branch, `member_number`, since they widen. So the name follows from the
writer's branch only, whichever versions are merged.

A field that can hold only null and empty records has no column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from penstock.errors import SchemaConflictError
from penstock.schemas import Schema, find_decimal
from penstock.tables.columns import MEMBER, VOID, Array, Column, ColumnType, Map, Struct
from penstock.tables.names import mark_field

_LEAVES: Final = {
    "null": VOID,
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "fixed": "binary",
    "string": "string",
    "enum": "string",
}
_LOGICAL: Final = {
    ("int", "date"): "date",
    ("long", "timestamp-millis"): "timestamp",
    ("long", "timestamp-micros"): "timestamp",
    ("long", "local-timestamp-millis"): "timestamp_ntz",
    ("long", "local-timestamp-micros"): "timestamp_ntz",
}


_NUMBERS: Final = ("int", "long", "float", "double")
_NAMED: Final = ("record", "enum", "fixed")


def read_event(merged: Schema) -> Struct:
    """Return the fields of the events of a schema that `merge_schemas` returned.

    Raises:
        SchemaConflictError: two types of a union would be one column.
    """
    type_ = _Reader().read(merged, "")
    return type_ if isinstance(type_, Struct) else Struct()


def name_member(branch: Any) -> str:
    """Return the column of a branch of a union, a type that is no reference."""
    kind = branch if isinstance(branch, str) else branch["type"]
    if kind in _NUMBERS:
        return f"{MEMBER}number"
    return _member(branch["name"] if kind in _NAMED else kind)


def list_members(branches: Sequence[Any], path: str = "") -> dict[str, int]:
    """Return the columns of a union of several types, sorted, each with the index of its branch.

    Args:
        branches: the types except null, none of which is a reference.
        path: the path of the union, for the message.

    Raises:
        SchemaConflictError: two types would be one column.
    """
    members: dict[str, tuple[int, str]] = {}

    def add(column: str, at: int, name: str) -> None:
        other, known = members.setdefault(column, (at, name))
        if other != at:
            raise SchemaConflictError(
                f"{path}: the types {known} and {name} of a union would both be the column "
                f"{column}, expected types with different names",
                path=path,
            )

    own = [name_member(each) for each in branches]
    for at, (branch, column) in enumerate(zip(branches, own, strict=True)):
        add(column, at, _label(branch))
    aliases = [() if isinstance(each, str) else each.get("aliases", ()) for each in branches]
    claims = Counter(alias for each in aliases for alias in each)
    claims.update(map(_label, branches))
    for at, found in enumerate(aliases):
        for alias in found:
            if claims[alias] == 1:  # another branch has the values of that name
                add(_member(alias), at, alias)
    return {column: members[column][0] for column in sorted(members)}


def _member(name: str) -> str:
    return f"{MEMBER}{name.replace('.', '_')}"


def _label(branch: Any) -> str:
    return branch if isinstance(branch, str) else str(branch.get("name", branch["type"]))


class _Reader:
    """Reads the types of one schema; holds those that are named, and their columns."""

    def __init__(self) -> None:
        self._named: dict[str, Any] = {}
        self._types: dict[str, ColumnType] = {}

    def read(self, part: Any, path: str) -> ColumnType:
        if isinstance(part, str):
            return self._types[part] if part in self._types else _LEAVES[part]
        if isinstance(part, list):
            return self._read_union([each for each in part if each != "null"], path)
        type_ = self._read_complex(part, part["type"], path)
        if "name" in part:
            self._named[part["name"]], self._types[part["name"]] = part, type_
        return type_

    def _read_complex(self, part: dict[str, Any], kind: str, path: str) -> ColumnType:
        if kind == "record":
            return _make_struct([self._read_field(each, path) for each in part["fields"]])
        if kind == "array":
            return Array(self.read(part["items"], f"{path}[]"))
        if kind == "map":
            return Map("string", self.read(part["values"], f"{path}{{}}"))
        logical = part.get("logicalType")
        if kind in {"bytes", "fixed"} and (decimal := find_decimal(part, part.get("size"))):
            return f"decimal({decimal[0]},{decimal[1]})"
        return _LOGICAL.get((kind, str(logical))) or self._types.get(kind) or _LEAVES[kind]

    def _read_field(self, field: dict[str, Any], path: str) -> Column:
        name, json_name = field["name"], field.get("jsonName", field["name"])
        type_ = self.read(field["type"], f"{path}.{name}".lstrip("."))
        return Column(name, type_, mark_field(name, json_name))

    def _read_union(self, branches: list[Any], path: str) -> ColumnType:
        types = [self.read(each, path) for each in branches]
        if len(types) < 2:
            return types[0] if types else VOID
        whole = [
            self._named.get(each, each) if isinstance(each, str) else each for each in branches
        ]
        members = list_members(whole, path)
        return _make_struct([Column(name, types[at]) for name, at in members.items()])


def _make_struct(fields: Iterable[Column]) -> Struct:
    """Return a struct of the fields that can hold a value."""
    return Struct(tuple(each for each in fields if each.type not in {VOID, Struct()}))
