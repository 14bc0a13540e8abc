"""The places of the reader schema, and the writer schemas with types named after them.

Avro resolves a union of writer schemas into one reader schema only if each type has a name of its
own that the reader knows. So a named type is called after its place in the reader schema: the third
is `reader.t3`, and `v7.t3` in version 7, an alias of the reader's type (records need none). A type
that a schema references twice is written out at each place, so that no name has two meanings.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.errors import InvalidSchemaError
from penstock.schemas import Schema, canonical_form

_NAMED: Final = ("record", "enum", "fixed")
_NUMBERS: Final = ("int", "long", "float", "double")
_KEPT: Final = ("logicalType", "precision", "scale", "symbols", "size")
ITEM_KEYS: Final = {"array": "items", "map": "values"}


@dataclass(slots=True, eq=False)
class Place:
    """One place of the reader schema; `kind` determines which attributes below are set.

    `holds_long` is true if a version has 64-bit whole numbers where the reader has a double.
    """

    kind: str
    name: str = ""  # t3, for a named type
    called: frozenset[str] = frozenset()  # its names in the versions, without namespaces
    fields: dict[str, Place] = field(default_factory=dict)
    branches: tuple[Place, ...] = ()
    item: Place | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    aliases: list[str] = field(default_factory=list)
    holds_long: bool = False

    @property
    def values(self) -> tuple[Place, ...]:
        """Return the places of all possible values except null."""
        return tuple(each for each in self.branches or (self,) if each.kind != "null")


class Reader:
    """The merge of all versions; it names the types of each version so that Avro can read them."""

    def __init__(self, merged: Schema) -> None:
        self._count = 0
        self.root = self._place(written_out(merged))

    def add(self, number: int, schema: Schema) -> Schema:
        """Return a version's schema with types named by place, and add aliases to the reader.

        Raises:
            InvalidSchemaError: a union of it holds two types that become one in the reader.
        """
        names: set[str] = set()
        return _rename(written_out(schema), self.root, f"v{number}", names)

    def _place(self, schema: Schema) -> Place:
        if isinstance(schema, list):
            return Place("union", branches=tuple(self._place(each) for each in schema))
        if isinstance(schema, str):
            return Place(schema)
        kind = schema["type"]
        kept: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema}
        if kind in ITEM_KEYS:
            return Place(kind, item=self._place(schema[ITEM_KEYS[kind]]))
        place = Place(kind, attributes=kept)
        if kind in _NAMED:
            self._count += 1
            place.name = f"t{self._count}"
            names = (schema["name"], *schema.get("aliases", ()))
            place.called = frozenset(map(_short, names))
        for each in schema.get("fields", ()):
            place.fields[each["name"]] = self._place(each["type"])
        return place


def write_reader(place: Place) -> Schema:
    """Return the reader schema for Avro.

    A nullable field defaults to null, for writers that lack it. A double that also takes the
    64-bit whole numbers of a version becomes a union of both.
    """
    if place.kind == "union":
        return [part for each in place.branches for part in _flat(write_reader(each))]
    if place.holds_long:
        return ["long", "double"]
    if place.item is not None:
        return {"type": place.kind, ITEM_KEYS[place.kind]: write_reader(place.item)}
    schema: dict[str, Any] = {"type": place.kind, **place.attributes}
    if place.name:
        schema |= {"name": f"reader.{place.name}", "aliases": place.aliases}
    if place.kind == "record":
        schema["fields"] = [_field(name, each) for name, each in place.fields.items()]
    return schema


def _field(name: str, place: Place) -> dict[str, Any]:
    optional = any(each.kind == "null" for each in place.branches)
    return {"name": name, "type": write_reader(place), **({"default": None} if optional else {})}


def _flat(schema: Schema) -> list[Any]:
    return schema if isinstance(schema, list) else [schema]


def written_out(schema: Schema) -> Schema:
    """Return a checked schema without references: each place has its type's whole definition."""
    defined: dict[str, Schema] = {}

    def write(part: Any) -> Any:
        if isinstance(part, str):
            return defined.get(part, part)
        if isinstance(part, list):
            return [write(each) for each in part]
        whole = dict(part)
        for key in ITEM_KEYS.values():
            if key in part:
                whole[key] = write(part[key])
        if "fields" in part:
            whole["fields"] = [{**each, "type": write(each["type"])} for each in part["fields"]]
        if part["type"] in _NAMED:
            defined[part["name"]] = whole
        return whole

    whole: Schema = write(json.loads(canonical_form(schema)))
    return whole


def _rename(writer: Schema, reader: Place, prefix: str, names: set[str]) -> Schema:
    if isinstance(writer, list):
        return [_rename(each, reader, prefix, names) for each in writer]
    kind = writer if isinstance(writer, str) else writer["type"]
    if kind == "null":
        return "null"
    place = find_place(writer, kind, reader)
    place.holds_long |= kind == "long" and place.kind == "double"
    if isinstance(writer, str):
        return writer
    if place.item is not None:
        key = ITEM_KEYS[kind]
        return {"type": kind, key: _rename(writer[key], place.item, prefix, names)}
    if not place.name:
        return str(kind)
    name = f"{prefix}.{place.name}"
    if name in names:
        raise InvalidSchemaError(
            f"found two types called {_short(writer['name'])} in one union, expected one, for "
            "Spark cannot tell them apart"
        )
    names.add(name)
    return _rename_named(writer, place, prefix, names)


def _rename_named(
    writer: dict[str, Any], place: Place, prefix: str, names: set[str]
) -> dict[str, Any]:
    name = f"{prefix}.{place.name}"
    if place.kind == "record":
        # No alias: Avro matches records by their fields, and the roots share one union.
        fields = [
            {
                "name": each["name"],
                "type": _rename(each["type"], place.fields[each["name"]], prefix, names),
            }
            for each in writer["fields"]
        ]
        return {"type": "record", "name": name, "fields": fields}
    place.aliases.append(name)
    part = "symbols" if place.kind == "enum" else "size"
    return {"type": place.kind, "name": name, part: writer[part]}


def find_place(writer: Schema, kind: str, reader: Place) -> Place:
    """Return the reader's place for a writer's type; the merge has one for each type."""
    for place in reader.values:
        if kind in _NUMBERS and place.kind in _NUMBERS:
            return place
        if place.kind == kind and (
            not place.name or (isinstance(writer, dict) and _short(writer["name"]) in place.called)
        ):
            return place
    raise InvalidSchemaError(f"found {kind} where the merge of the versions has none")


def _short(name: str) -> str:
    return name.rpartition(".")[2]
