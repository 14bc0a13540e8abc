"""The thirty schema changes, as data.

Each begins with records of its first version, and each but the last sends records of that version
once more at its end, as a producer that was not upgraded does: they also show whether a system
still reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from proof.change import (
    Change,
    Damage,
    Kind,
    Record,
    Round,
    Row,
    Schema,
    field,
    good,
    number,
    optional,
    record_of,
)

_COUNT: Final = 10  # records of a version in a round
_LAST: Final = 5
_VERSIONS: Final = 200
_MEGABYTE: Final = 1_000_000
_BEGIN: Final = datetime(2026, 11, 27, 8, tzinfo=UTC)

Rows = Callable[[int], Row]


def _rows(make: Rows, count: int = _COUNT) -> list[Row]:
    return [make(at) for at in range(count)]


def _change(name: str, title: str, *steps: tuple[Sequence[Any], Rows], record: str = "") -> Change:
    """Return a change whose versions have these fields, with a round of rows for each."""
    versions = [record_of(fields) for fields, _ in steps]
    return _plain(name, title, versions, [make for _, make in steps])


def _plain(name: str, title: str, versions: Sequence[Schema], makes: Sequence[Rows]) -> Change:
    rounds = [Round(good(at, _rows(make))) for at, make in enumerate(makes)]
    return _ended(name, title, versions, rounds, makes[0])


def _ended(
    name: str, title: str, versions: Sequence[Schema], rounds: Sequence[Round], first: Rows
) -> Change:
    """Return a change that ends with records of its first version."""
    last = Round(good(0, _rows(first, _LAST)))
    return Change(name, title, tuple(versions), number([*rounds, last]))


def _text(at: int) -> str:
    return f"text {at}"


def _device(at: int) -> Row:
    return {"device": _text(at)}


_DEVICE: Final = field("device", "string")
_TWO: Final = (
    ([_DEVICE], _device),
    (
        [_DEVICE, optional("celsius", "double")],
        lambda at: {"device": _text(at), "celsius": at / 2},
    ),
)

_FIELDS: Final = (
    _change(
        "add-with-default",
        "a field is added, with a default",
        _TWO[0],
        ([_DEVICE, field("count", "int", default=7)], lambda at: {**_device(at), "count": at}),
    ),
    _change(
        "add-without-default",
        "a field is added, without a default",
        _TWO[0],
        ([_DEVICE, field("count", "int")], lambda at: {**_device(at), "count": at}),
    ),
    _change("drop", "a field is dropped", _TWO[1], _TWO[0]),
    _change(
        "rename",
        "a field is renamed with an alias, another one without",
        (
            [field("colour", "string"), field("size", "long")],
            lambda at: {"colour": _text(at), "size": at},
        ),
        (
            [field("color", "string", aliases=["colour"]), field("length", "long")],
            lambda at: {"color": _text(at), "length": at},
        ),
    ),
    _change(
        "reorder",
        "fields change their order",
        (
            [field("first", "string"), field("second", "string")],
            lambda at: {"first": "first", "second": "second"},
        ),
        (
            [field("second", "string"), field("first", "string")],
            lambda at: {"first": "first", "second": "second"},
        ),
    ),
    _change(
        "nullable-to-required",
        "an optional field becomes required",
        (
            [optional("celsius", "double")],
            lambda at: {"celsius": None if at % 2 else at / 2},
        ),
        ([field("celsius", "double")], lambda at: {"celsius": at / 2}),
    ),
    _change(
        "required-to-nullable",
        "a required field becomes optional",
        ([field("celsius", "double")], lambda at: {"celsius": at / 2}),
        (
            [optional("celsius", "double")],
            lambda at: {"celsius": None if at % 2 else at / 2},
        ),
    ),
    _change(
        "names-by-case",
        "a field is added whose name differs from another only by case",
        ([field("speed", "long")], lambda at: {"speed": at}),
        (
            [field("speed", "long"), optional("Speed", "long")],
            lambda at: {"speed": at, "Speed": at + 100},
        ),
    ),
    _change(
        "hostile-names",
        "fields are added whose names are words of SQL, or those of a table format",
        _TWO[0],
        (
            [_DEVICE, optional("select", "string"), optional("_pos", "long"),
             optional("_offset", "string"), optional("drop__table", "long")],
            lambda at: {**_device(at), "select": "* from", "_pos": at, "_offset": _text(at),
                        "drop__table": at},
        ),
    ),
)  # fmt: skip


def _instant(unit: str) -> dict[str, str]:
    return {"type": "long", "logicalType": f"timestamp-{unit}"}


def _decimal(precision: int, scale: int) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


_TYPES: Final = (
    _change(
        "int-to-long",
        "`int` becomes `long`",
        ([field("count", "int")], lambda at: {"count": at}),
        ([field("count", "long")], lambda at: {"count": at + 2**40}),
    ),
    _change(
        "float-to-double",
        "`float` becomes `double`",
        ([field("share", "float")], lambda at: {"share": at / 4}),
        ([field("share", "double")], lambda at: {"share": at / 10}),
    ),
    _change(
        "long-to-int",
        "`long` becomes `int`, which is narrower",
        ([field("count", "long")], lambda at: {"count": at + 2**40}),
        ([field("count", "int")], lambda at: {"count": at}),
    ),
    _change(
        "int-to-string",
        "`int` becomes `string`, which contradicts it",
        ([field("level", "int")], lambda at: {"level": at}),
        ([field("level", "string")], lambda at: {"level": _text(at)}),
    ),
    _change(
        "union-gains-branch",
        "a union gains a branch",
        ([optional("value", "long")], lambda at: {"value": at}),
        (
            [field("value", ["null", "long", "string"], default=None)],
            lambda at: {"value": _text(at) if at % 2 else at},
        ),
    ),
    _change(
        "enum-gains-symbol",
        "an enum gains a symbol",
        (
            [field("level", {"type": "enum", "name": "Level", "symbols": ["LOW", "HIGH"]})],
            lambda at: {"level": "LOW" if at % 2 else "HIGH"},
        ),
        (
            [field("level", {"type": "enum", "name": "Level", "symbols": ["OFF", "LOW", "HIGH"]})],
            lambda at: {"level": ("OFF", "LOW", "HIGH")[at % 3]},
        ),
    ),
    _change(
        "decimal-grows",
        "a decimal grows from 9 digits with 2 after the point to 20 with 4",
        ([field("price", _decimal(9, 2))], lambda at: {"price": Decimal(at) / 4}),
        (
            [field("price", _decimal(20, 4))],
            lambda at: {"price": Decimal(10) ** 12 + Decimal(at) / 16},
        ),
    ),
    _change(
        "millis-to-micros",
        "a time of milliseconds becomes one of microseconds",
        (
            [field("at", _instant("millis"))],
            lambda at: {"at": _BEGIN + timedelta(milliseconds=at)},
        ),
        (
            [field("at", _instant("micros"))],
            lambda at: {"at": _BEGIN + timedelta(microseconds=at)},
        ),
    ),
)

_POINT: Final = [field("x", "long")]
_PLACE: Final = [field("x", "long"), optional("y", "long")]


def _point(name: str, fields: Sequence[Any]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


_NESTED: Final = (
    _change(
        "nested-gains-field",
        "a nested record gains a field",
        ([field("place", _point("Place", _POINT))], lambda at: {"place": {"x": at}}),
        ([field("place", _point("Place", _PLACE))], lambda at: {"place": {"x": at, "y": -at}}),
    ),
    _change(
        "list-gains-field",
        "the elements of a list gain a field",
        (
            [field("places", {"type": "array", "items": _point("Place", _POINT)})],
            lambda at: {"places": [{"x": each} for each in range(at % 3)]},
        ),
        (
            [field("places", {"type": "array", "items": _point("Place", _PLACE)})],
            lambda at: {"places": [{"x": each, "y": -each} for each in range(at % 3)]},
        ),
    ),
    _change(
        "map-gains-field",
        "the values of a map gain a field",
        (
            [field("places", {"type": "map", "values": _point("Place", _POINT)})],
            lambda at: {"places": {"a": {"x": at}}},
        ),
        (
            [field("places", {"type": "map", "values": _point("Place", _PLACE)})],
            lambda at: {"places": {"a": {"x": at, "y": -at}, "b": {"x": 0, "y": None}}},
        ),
    ),
    _plain(
        "recursive",
        "a field is added whose type contains itself",
        [
            record_of([_DEVICE]),
            record_of([_DEVICE, optional("parent", _point(
                "Node", [field("name", "string"), optional("parent", "Node")]))]),
        ],
        [_device, lambda at: {**_device(at), "parent": {"name": "a", "parent": {
            "name": "b", "parent": None}}}],
    ),
    _plain(
        "record-renamed",
        "the record gets another name, without an alias",
        [record_of([_DEVICE]),
         record_of([_DEVICE, optional("celsius", "double")], "Reading", namespace="plant.v2")],
        [_device, _TWO[1][1]],
    ),
)  # fmt: skip


def _bad(damage: Damage) -> Record:
    return Record(_device(0), 0, Kind.BAD, damage)


def _grown(versions: int) -> list[Schema]:
    return [
        record_of([_DEVICE, *(optional(f"field{each}", "long") for each in range(version))])
        for version in range(versions)
    ]


def _grown_row(version: int) -> Row:
    older = {f"field{each}": None for each in range(version - 1)}
    return {**_device(version), **older, f"field{version - 1}": version}


def _mixed(*records: Sequence[Record]) -> Round:
    """Return a round in which records of several kinds take turns."""
    return Round(tuple(record for turn in zip(*records, strict=True) for record in turn))


_PLAIN: Final = [record_of([_DEVICE])]
_BOTH: Final = [record_of(fields) for fields, _ in _TWO]
_FIRST, _SECOND = (good(at, _rows(make)) for at, (_, make) in enumerate(_TWO))

_TROUBLE: Final = (
    _ended(
        "two-hundred-versions",
        "200 versions in turn, each with a field more",
        _grown(_VERSIONS),
        [
            Round(_FIRST),
            Round(tuple(Record(_grown_row(each), each) for each in range(1, _VERSIONS))),
        ],
        _device,
    ),
    _ended(
        "two-producers",
        "two producers with different versions write in turn",
        _BOTH,
        [Round(_FIRST), _mixed(_FIRST, _SECOND), _mixed(_SECOND, _FIRST)],
        _device,
    ),
    _ended(
        "version-goes-back",
        "a producer is upgraded, and then rolled back",
        _BOTH,
        [Round(_FIRST), Round(_SECOND), Round(_FIRST), Round(_SECOND)],
        _device,
    ),
    _ended(
        "registry-down",
        "the registry is down while the first records of a version come",
        _BOTH,
        [Round(_FIRST), Round(_SECOND, registry_down=True)],
        _device,
    ),
    _ended(
        "unknown-schema",
        "a record has a schema that the registry does not have",
        _BOTH,
        [Round(_FIRST), Round((*_SECOND[:5], _bad(Damage.UNKNOWN_SCHEMA), *_SECOND[5:]))],
        _device,
    ),
    _ended(
        "damaged",
        "records are cut or garbage, between good ones",
        _BOTH,
        [
            Round(_FIRST),
            Round(
                (*_SECOND[:3], _bad(Damage.CUT), *_SECOND[3:6],
                 _bad(Damage.GARBAGE), *_SECOND[6:])
            ),
        ],
        _device,
    ),
    _ended(
        "one-megabyte",
        "a record has 1 MB",
        _PLAIN,
        [Round(_FIRST), Round((*_FIRST[:5], Record({"device": "x" * _MEGABYTE}), *_FIRST[5:]))],
        _device,
    ),
    _ended(
        "tombstone",
        "a record has no value",
        _PLAIN,
        [Round(_FIRST), Round((*_FIRST[:5], Record(_device(0), 0, Kind.EMPTY), *_FIRST[5:]))],
        _device,
    ),
)  # fmt: skip

CHANGES: Final = (*_FIELDS, *_TYPES, *_NESTED, *_TROUBLE)
