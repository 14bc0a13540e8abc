"""Plans for the decoder in Java: how the values of a writer's schema become those of the columns.

A plan is a list in JSON, with its kind first: jars/decoder/src/penstock/spark/ValueReaders.java has
all of them.
"""

from __future__ import annotations

from typing import Any, Final

from penstock.schemas import Schema
from penstock.spark.decoding.reader_schema import ITEM_KEYS, Place, find_place, written_out
from penstock.spark.decoding.reader_sql import is_empty

Plan = list[Any]
_NUMBERS: Final = ("int", "long", "float")
_MILLIS: Final = ("timestamp-millis", "local-timestamp-millis")
_LEFT_OUT: Final = -1


def write_plan(schema: Schema, root: Place) -> Plan:
    """Return the plan for a version that the merge at `root` was made of."""
    return _write(written_out(schema), root)


def _write(writer: Any, reader: Place) -> Plan:
    if isinstance(writer, list):
        return ["union", *(_write(each, reader) for each in writer)]
    kind = writer if isinstance(writer, str) else writer["type"]
    if kind == "null":
        return ["null"]
    place = find_place(writer, kind, reader)
    plan = [kind, *_write_details(writer, kind, place)]
    if len(reader.values) > 1:
        return ["member", reader.values.index(place), len(reader.values), plan]
    return plan


def _write_details(writer: Any, kind: str, place: Place) -> Plan:
    """Return what follows the kind."""
    if kind in _NUMBERS:
        # Avro ignores these logical types on other kinds.
        is_millis = place.kind == "long" and place.attributes.get("logicalType") in _MILLIS
        return ["millis" if is_millis else place.kind]
    if place.item is not None:
        return [_write(writer[ITEM_KEYS[kind]], place.item)]
    if kind == "enum":
        return list(writer["symbols"])
    if kind == "record":
        return [len(place.fields), *_write_fields(writer, place)]
    return [writer["size"]] if kind == "fixed" else []


def _write_fields(writer: Any, place: Place) -> list[Plan]:
    columns = [name for name, field in place.fields.items() if not is_empty(field)]
    at = {name: number for number, name in enumerate(columns)}
    return [
        [at.get(each["name"], _LEFT_OUT), _write(each["type"], place.fields[each["name"]])]
        for each in writer["fields"]
    ]
