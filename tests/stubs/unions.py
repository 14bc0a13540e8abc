"""Unions of Avro types: branches of every kind, two of them of one name in two namespaces."""

from __future__ import annotations

from typing import Any

from penstock.schemas import encode


def make_named(name: str, kind: str = "record", **more: Any) -> dict[str, Any]:
    """Make a named type; the field of a record tells its short name."""
    field = f"of_{name.rpartition('.')[2]}"
    parts: dict[str, Any] = {
        "record": {"fields": [{"name": field, "type": "long"}]},
        "enum": {"symbols": ["A", "B"]},
        "fixed": {"size": 2},
    }[kind]
    return {"type": kind, "name": name, **parts, **more}


def unite(*branches: Any) -> list[Any]:
    """Make a union of null and these types."""
    return ["null", *branches]


def make_event(*types: Any) -> dict[str, Any]:
    """Make the schema of an event with the fields `u`, `u2`, and so on, of these types."""
    names = ("u", *(f"u{number}" for number in range(2, len(types) + 1)))
    fields = [{"name": name, "type": type_} for name, type_ in zip(names, types, strict=False)]
    return {"type": "record", "name": "event", "fields": fields}


BRANCHES: dict[str, Any] = {
    "array": {"type": "array", "items": "long"},
    "boolean": "boolean",
    "bytes": "bytes",
    "enum": make_named("acme.State", "enum"),
    "fixed": make_named("Hash", "fixed"),
    "map": {"type": "map", "values": "long"},
    "number": "long",
    "one": make_named("acme.Reading"),
    "other": make_named("other.Reading"),
    "plain": make_named("Alarm"),
    "string": "string",
}
# A value of each.
VALUES: dict[str, Any] = {
    "array": [1, 2],
    "boolean": True,
    "bytes": b"abc",
    "enum": "B",
    "fixed": b"xy",
    "map": {"k": 3},
    "number": 4,
    "one": {"of_Reading": 5},
    "other": {"of_Reading": 6},
    "plain": {"of_Alarm": 7},
    "string": "text",
}

# Two unions, the second of which renames a record, and has another type of its former name.
RENAMED: dict[str, tuple[list[Any], list[Any]]] = {
    "as an alias": (
        unite(make_named("Old"), "string"),
        unite(
            make_named("New", aliases=["Old"]), make_named("E", "enum", aliases=["Old"]), "string"
        ),
    ),
    "as its name": (
        unite(make_named("Old"), "string"),
        unite(make_named("New", aliases=["Old"]), make_named("Old", "enum"), "string"),
    ),
    "as an alias, in a column that another alias has": (
        unite(make_named("a.Old"), "string"),
        unite(
            make_named("New", aliases=["a.Old"]),
            make_named("E", "enum", aliases=["a.Old"]),
            make_named("Other", aliases=["a_Old"]),
            "string",
        ),
    ),
}


def encode_branch(version: Any, at: int, value: Any) -> bytes:
    """Encode an event of a version, whose `u` is the branch at this place of its union."""
    branch = version["fields"][0]["type"][at]
    return bytes([2 * at]) + encode({"u": value}, make_event(branch))
