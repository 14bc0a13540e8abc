"""Plans for the decoder in Java: how the values of a writer's schema become those of the columns.

A plan is a list in JSON, with its kind first: jars/decoder/src/penstock/spark/ValueReaders.java has
all of them. The rules of the merge stay in Python: Java knows no schema.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.schemas import Schema, canonical_form
from penstock.tables import list_members, name_member

Plan = list[Any]

_NAMED: Final = ("record", "enum", "fixed")
_NUMBERS: Final = ("int", "long", "float", "double")
_MILLIS: Final = ("timestamp-millis", "local-timestamp-millis")
_ITEM_KEYS: Final = {"array": "items", "map": "values"}
_LEFT_OUT: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One place of the merged schema; `kind` determines which attributes below are set."""

    kind: str
    fields: dict[str, Place] = field(default_factory=dict)
    branches: tuple[Place, ...] = ()
    members: dict[str, Place] = field(default_factory=dict)  # by column, of several branches
    item: Place | None = None
    logical: str = ""

    @classmethod
    def of(cls, merged: Schema) -> Place:
        """Return the place of a whole merged schema."""
        return _place(write_out(merged))

    @property
    def values(self) -> tuple[Place, ...]:
        """Return the places of all possible values except null."""
        return tuple(each for each in self.branches or (self,) if each.kind != "null")

    @property
    def width(self) -> int:
        """Return the number of values in it, which the generated code grows with."""
        inside = (*self.fields.values(), *(self.values if self.branches else ()))
        return sum(each.width for each in inside) or 1

    @property
    def is_empty(self) -> bool:
        """Return whether it holds only null and empty records, which no table accepts."""
        return all(
            each.kind == "record" and all(inside.is_empty for inside in each.fields.values())
            for each in self.values
        )


def _place(schema: Any) -> Place:
    if isinstance(schema, list):
        return _place_union(schema)
    if isinstance(schema, str):
        return Place(schema)
    kind = schema["type"]
    if kind in _ITEM_KEYS:
        return Place(kind, item=_place(schema[_ITEM_KEYS[kind]]))
    return Place(
        kind,
        {each["name"]: _place(each["type"]) for each in schema.get("fields", ())},
        logical=str(schema.get("logicalType", "")),
    )


def _place_union(schemas: list[Any]) -> Place:
    values = {at: each for at, each in enumerate(schemas) if each != "null"}
    branches = tuple(map(_place, schemas))
    if len(values) < 2:
        return Place("union", branches=branches)
    places = [branches[at] for at in values]
    members = {name: places[at] for name, at in list_members(list(values.values())).items()}
    return Place("union", branches=branches, members=members)


def write_out(schema: Schema) -> Schema:
    """Return a checked schema without references: each place has its type's whole definition."""
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


def write_plan(schema: Schema, root: Place) -> Plan:
    """Return the plan for a version that the merge at `root` was made of."""
    return _write_plan(write_out(schema), root)


def _write_plan(writer: Any, reader: Place) -> Plan:
    if isinstance(writer, list):
        return ["union", *(_write_plan(each, reader) for each in writer)]
    kind = writer if isinstance(writer, str) else writer["type"]
    if kind == "null":
        return ["null"]
    member = name_member(writer) if reader.members else ""
    place = reader.members[member] if member else reader.values[0]
    plan = [kind, *_write_details(writer, kind, place)]
    if member:
        columns = [name for name, each in reader.members.items() if not each.is_empty]
        at = _LEFT_OUT if place.is_empty else columns.index(member)
        return ["member", at, len(columns), plan]
    return plan


def _write_details(writer: Any, kind: str, place: Place) -> Plan:
    """Return what follows the kind."""
    if kind in _NUMBERS and kind != "double":
        # Avro ignores these logical types on other kinds.
        is_millis = place.kind == "long" and place.logical in _MILLIS
        return ["millis" if is_millis else place.kind]
    if place.item is not None:
        return [_write_plan(writer[_ITEM_KEYS[kind]], place.item)]
    if kind == "enum":
        return list(writer["symbols"])
    if kind == "record":
        return [len(place.fields), *_write_fields(writer, place)]
    return [writer["size"]] if kind == "fixed" else []


def _write_fields(writer: Any, place: Place) -> list[Plan]:
    columns = [name for name, each in place.fields.items() if not each.is_empty]
    at = {name: number for number, name in enumerate(columns)}
    return [
        [at.get(each["name"], _LEFT_OUT), _write_plan(each["type"], place.fields[each["name"]])]
        for each in writer["fields"]
    ]
