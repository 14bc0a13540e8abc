"""Plans for the decoder in Java: how values of a writer's schema become values of columns.

A plan is a JSON list whose first item is its kind. ValueReaders.java in jars/decoder has a list of
all kinds. Schemas are merged in Python only: the Java decoder knows plans and no schemas.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.errors import SchemaConflictError
from penstock.schemas import Schema, canonical_form, join_path
from penstock.tables import list_members, name_member

Plan = list[Any]

_NAMED: Final = ("record", "enum", "fixed")
_NUMBERS: Final = ("int", "long", "float", "double")
_MILLIS: Final = ("timestamp-millis", "local-timestamp-millis")
_ITEM_KEYS: Final = {"array": "items", "map": "values"}
_NO_COLUMN: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class MergedType:
    """A type in the merged schema; `kind` determines which of the other attributes are set."""

    kind: str
    fields: dict[str, MergedType] = field(default_factory=dict)
    branches: tuple[MergedType, ...] = ()
    members: dict[str, MergedType] = field(
        default_factory=dict
    )  # by column, for several branches besides null
    item: MergedType | None = None
    logical: str = ""
    names: tuple[str, ...] = ()  # of a record, enum or fixed, with its aliases

    @classmethod
    def of(cls, merged: Schema) -> MergedType:
        """Return the type of a whole merged schema."""
        return _read_type(expand_references(merged))

    @property
    def values(self) -> tuple[MergedType, ...]:
        """Return the types of all possible values except null."""
        return tuple(each for each in self.branches or (self,) if each.kind != "null")

    @property
    def width(self) -> int:
        """Return the number of values in the type; the code that Spark generates grows with it."""
        inside = (*self.fields.values(), *(self.values if self.branches else ()))
        return sum(each.width for each in inside) or 1

    @property
    def is_empty(self) -> bool:
        """Return whether it holds only nulls and empty records, for which no column can be made."""
        return all(
            each.kind == "record" and all(inside.is_empty for inside in each.fields.values())
            for each in self.values
        )


def _read_type(schema: Any) -> MergedType:
    if isinstance(schema, list):
        return _read_union(schema)
    if isinstance(schema, str):
        return MergedType(schema)
    kind = schema["type"]
    if kind in _ITEM_KEYS:
        return MergedType(kind, item=_read_type(schema[_ITEM_KEYS[kind]]))
    return MergedType(
        kind,
        {each["name"]: _read_type(each["type"]) for each in schema.get("fields", ())},
        logical=str(schema.get("logicalType", "")),
        names=(schema["name"], *schema.get("aliases", ())) if kind in _NAMED else (),
    )


def _read_union(schemas: list[Any]) -> MergedType:
    values = {at: each for at, each in enumerate(schemas) if each != "null"}
    branches = tuple(map(_read_type, schemas))
    if len(values) < 2:
        return MergedType("union", branches=branches)
    places = [branches[at] for at in values]
    members = {name: places[at] for name, at in list_members(list(values.values())).items()}
    return MergedType("union", branches=branches, members=members)


def expand_references(schema: Schema) -> Schema:
    """Return a checked schema in which each reference to a type is replaced by its definition."""
    defined: dict[str, Schema] = {}

    def write(part: Any) -> Any:
        if isinstance(part, str):
            return defined.get(part, part)
        if isinstance(part, list):
            return [write(each) for each in part]
        whole = dict(part)
        for key in _ITEM_KEYS.values():
            if key in part:
                whole[key] = write(part[key])
        if "fields" in part:
            whole["fields"] = [{**each, "type": write(each["type"])} for each in part["fields"]]
        if part["type"] in _NAMED:
            defined[part["name"]] = whole
        return whole

    whole: Schema = write(json.loads(canonical_form(schema)))
    return whole


def write_plan(schema: Schema, root: MergedType) -> Plan:
    """Return the plan for one of the versions that were merged to `root`.

    Raises:
        SchemaConflictError: another type of a union takes the column of a type of the version.
    """
    return _write_plan(expand_references(schema), root, "")


def _write_plan(writer: Any, reader: MergedType, path: str) -> Plan:
    if isinstance(writer, list):
        return ["union", *(_write_plan(each, reader, path) for each in writer)]
    kind = writer if isinstance(writer, str) else writer["type"]
    if kind == "null":
        return ["null"]
    if not reader.members:
        return [kind, *_write_details(writer, kind, reader.values[0], path)]
    member = name_member(writer)
    if kind in _NAMED:
        _check_name(writer["name"], kind, reader.members.get(member), path)
    merged = reader.members[member]
    columns = [name for name, each in reader.members.items() if not each.is_empty]
    at = _NO_COLUMN if merged.is_empty else columns.index(member)
    return ["member", at, len(columns), [kind, *_write_details(writer, kind, merged, path)]]


def _check_name(name: str, kind: str, merged: MergedType | None, path: str) -> None:
    """Raise SchemaConflictError unless a member of a union has the values of a named type."""
    if merged is None or merged.kind != kind or name not in merged.names:
        raise SchemaConflictError(
            f"{path}: several types of the union have the name or alias {name}, expected only the "
            f"one with the values of the {kind} {name}",
            path=path,
        )


def _write_details(writer: Any, kind: str, merged: MergedType, path: str) -> Plan:
    """Return the items of a plan after its kind."""
    if kind in _NUMBERS and kind != "double":
        # Avro ignores these logical types unless the kind is long.
        is_millis = merged.kind == "long" and merged.logical in _MILLIS
        return ["millis" if is_millis else merged.kind]
    if merged.item is not None:
        inside = f"{path}{'[]' if kind == 'array' else '{}'}"
        return [_write_plan(writer[_ITEM_KEYS[kind]], merged.item, inside)]
    if kind == "enum":
        return list(writer["symbols"])
    if kind == "record":
        return _write_fields(writer, merged, path)
    return [writer["size"]] if kind == "fixed" else []


def _write_fields(writer: Any, merged: MergedType, path: str) -> list[Plan]:
    columns = [name for name, each in merged.fields.items() if not each.is_empty]
    at = {name: number for number, name in enumerate(columns)}
    plans = []
    for each in writer["fields"]:
        name = each["name"]
        plan = _write_plan(each["type"], merged.fields[name], join_path(path, name))
        plans.append([at.get(name, _NO_COLUMN), plan])
    return plans
