"""What a change of a schema is called."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.extensions.schema_plan.changes import Kind, Owner, list_changes, list_owners
from penstock.schemas import check_compatibility, load_schema


def _record(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "a.R", "fields": list(fields), **more}


def _field(name: str, type_: Any = "int", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def _enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "a.E", "symbols": list(symbols), **more}


def _decimal(precision: int, scale: int = 2) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


_FIXED = {"type": "fixed", "name": "a.X", "size": 2}
_INNER = {"type": "record", "name": "a.I", "fields": [_field("x")]}
_CASES: list[tuple[Any, Any, list[tuple[Kind, str, str, str]]]] = [
    (_record(_field("a")), _record(_field("a")), []),
    (
        _record(_field("a")),
        _record(_field("a"), _field("b", ["null", "string"], default=None)),
        [(Kind.FIELD_ADDED, "b", "", "string (optional), default null")],
    ),
    (_record(_field("a"), _field("b")), _record(_field("b")),
     [(Kind.FIELD_REMOVED, "a", "int", "")]),
    (_record(_field("a")), _record(_field("b", aliases=["a"])), [
        (Kind.FIELD_RENAMED, "b", "a", "b"), (Kind.ALIASES_CHANGED, "b", "", "a"),
    ]),
    # The alias names a field that is still there.
    (_record(_field("a")), _record(_field("a"), _field("b", aliases=["a"])),
     [(Kind.FIELD_ADDED, "b", "", "int")]),
    (_record(_field("a")), _record(_field("a", "double")),
     [(Kind.TYPE_WIDENED, "a", "int", "double")]),
    (_record(_field("a", "double")), _record(_field("a", "float")),
     [(Kind.TYPE_NARROWED, "a", "double", "float")]),
    (_record(_field("a", "string")), _record(_field("a", "bytes")),
     [(Kind.TYPE_CHANGED, "a", "string", "bytes")]),
    (_record(_field("a", _decimal(4))), _record(_field("a", _decimal(9))),
     [(Kind.TYPE_CHANGED, "a", "decimal(4, 2)", "decimal(9, 2)")]),
    # Avro says that a decimal without a scale has the scale 0.
    (_record(_field("a", _decimal(4, scale=0))),
     _record(_field("a", {"type": "bytes", "logicalType": "decimal", "precision": 4})), []),
    (_record(_field("a", "long")),
     _record(_field("a", {"type": "long", "logicalType": "timestamp-millis"})),
     [(Kind.TYPE_CHANGED, "a", "long", "timestamp-millis")]),
    (_record(_field("a", _FIXED)), _record(_field("a", {**_FIXED, "size": 3})),
     [(Kind.TYPE_CHANGED, "a", "fixed X(2)", "fixed X(3)")]),
    (_record(_field("a")), _record(_field("a", ["null", "long"])), [
        (Kind.MADE_OPTIONAL, "a", "int", "long (optional)"),
        (Kind.TYPE_WIDENED, "a", "int", "long"),
    ]),
    (_record(_field("a", ["null", "int"])), _record(_field("a")),
     [(Kind.MADE_REQUIRED, "a", "int (optional)", "int")]),
    (_record(_field("a", ["int", "string"])), _record(_field("a", ["int", "boolean", "bytes"])), [
        (Kind.TYPE_REMOVED, "a", "string", ""),
        (Kind.TYPE_ADDED, "a", "", "boolean"),
        (Kind.TYPE_ADDED, "a", "", "bytes"),
    ]),
    (_record(_field("a", default=1)), _record(_field("a", default=2)),
     [(Kind.DEFAULT_CHANGED, "a", "default 1", "default 2")]),
    (_record(_field("a", default=1)), _record(_field("a")),
     [(Kind.DEFAULT_CHANGED, "a", "default 1", "no default")]),
    (_record(_field("a", _enum("A", "B"))), _record(_field("a", _enum("B", "C", default="C"))), [
        (Kind.SYMBOLS_REMOVED, "a", "A", ""),
        (Kind.SYMBOLS_ADDED, "a", "", "C"),
        (Kind.DEFAULT_CHANGED, "a", "no default", 'default "C"'),
    ]),
    (_record(_field("a"), _field("b")), _record(_field("b"), _field("a")),
     [(Kind.FIELDS_MOVED, "the schema", "a, b", "b, a")]),
    (_record(_field("a")), {**_record(_field("a")), "name": "a.S"},
     [(Kind.TYPE_RENAMED, "", "a.R", "a.S")]),
    (_record(_field("a")), _record(_field("a"), aliases=["a.Q"]),
     [(Kind.ALIASES_CHANGED, "", "", "a.Q")]),
    (_record(_field("a", doc="x" * 100)), _record(_field("a", doc="x" * 101)), [
        (Kind.ATTRIBUTES_CHANGED, "a", '{"doc": "' + "x" * 51 + "...",
         '{"doc": "' + "x" * 51 + "..."),
    ]),
    (_record(_field("a", {"type": "int", "note": 1})), _record(_field("a")),
     [(Kind.ATTRIBUTES_CHANGED, "a", '{"note": 1}', "")]),
    (
        _record(_field("a", {"type": "array", "items": {"type": "map", "values": _INNER}})),
        _record(_field("a", {"type": "array", "items": {"type": "map", "values": {
            **_INNER, "fields": [_field("x", "long", jsonName="größe")]}}})),
        [
            (Kind.TYPE_WIDENED, "a[]{}.größe", "int", "long"),
            (Kind.ATTRIBUTES_CHANGED, "a[]{}.größe", "", '{"jsonName": "größe"}'),
        ],
    ),
    # A type that is used twice is compared where it is used first.
    (_record(_field("a", _INNER), _field("b", "a.I")),
     _record(_field("a", {**_INNER, "fields": []}), _field("b", "a.I")),
     [(Kind.FIELD_REMOVED, "a.x", "int", "")]),
    ("int", "long", [(Kind.TYPE_WIDENED, "", "int", "long")]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "expected"), _CASES)
def test_a_change_is_named(
    before: Any, after: Any, expected: list[tuple[Kind, str, str, str]]
) -> None:
    found = list_changes(load_schema(json.dumps(before)), load_schema(json.dumps(after)))

    assert [(each.kind, each.path, each.before, each.after) for each in found] == expected


def test_every_kind_of_change_is_found_above() -> None:
    assert {kind for *_, expected in _CASES for kind, *_ in expected} == set(Kind)


def test_a_change_names_the_type_and_the_field_that_define_it() -> None:
    before = _record(_field("a", _INNER), _field("b"))
    after = _record(_field("a", {**_INNER, "fields": [_field("x", "long")]}))

    widened, removed = sorted(list_changes(before, after), key=lambda each: -len(each.path))

    assert widened.owner == Owner("a.I", "x")
    assert removed.owner == Owner("a.R")


def test_paths_lead_to_the_definitions_of_fields() -> None:
    items = {"type": "array", "items": ["null", _INNER]}

    assert list_owners(_record(_field("a", items), _field("b", "a.I"))) == {
        "a": Owner("a.R", "a"),
        "a[].x": Owner("a.I", "x"),
        "b": Owner("a.R", "b"),
        "b.x": Owner("a.I", "x"),
    }


def test_a_path_is_that_of_the_refusal_whatever_the_name_holds() -> None:
    schema = _record(_field("a", jsonName="\ud800"))
    narrowed = _record(_field("a", "string", jsonName="\ud800"))

    (refusal,) = check_compatibility(narrowed, schema)

    assert refusal.path in list_owners(schema)
    assert refusal.path.isprintable()
