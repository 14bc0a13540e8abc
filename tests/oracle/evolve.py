"""Readers evolved from random writers: changes that a reader survives, and changes it does not."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from tests.oracle.generate import PRIMITIVES, Maker

# A change is tried at a place, (container, key), and says whether it could be made there.
_Change = Callable[[Any, Any, Maker], bool]


def evolve(writer: Any, maker: Maker, wanted: str) -> Any:
    """Change a copy of the writer: one change of the wanted sort and up to two compatible ones."""
    reader = copy.deepcopy(writer)
    changes = [wanted, *maker.rng.sample(sorted(COMPATIBLE), maker.rng.randint(0, 2))]
    for change in changes:
        places = list(_places(reader))
        maker.rng.shuffle(places)
        any(_CHANGES[change](holder, key, maker) for holder, key in places)
    return reader


def _places(schema: Any) -> Iterator[tuple[Any, Any]]:
    """Give each place of a type as (container, key), so that a change can replace it."""
    holders: list[tuple[Any, Any]] = []
    if isinstance(schema, list):
        holders = [(schema, index) for index in range(len(schema))]
    elif isinstance(schema, dict):
        holders = [(field, "type") for field in schema.get("fields", ())]
        holders += [(schema, key) for key in ("items", "values") if key in schema]
    for holder, key in holders:
        yield holder, key
        yield from _places(holder[key])


def _kind(type_: Any) -> str:
    if isinstance(type_, list):
        return "union"
    return type_ if isinstance(type_, str) else str(type_["type"])


def _replace_kind(old: set[str], new: Callable[[str, Maker], Any]) -> _Change:
    def change(holder: Any, key: Any, maker: Maker) -> bool:
        kind = _kind(holder[key])
        if kind not in old or isinstance(holder, list) or "default" in holder:
            return False
        holder[key] = new(kind, maker)
        return True

    return change


_WIDER = {"int": ["long", "float", "double"], "long": ["float", "double"], "float": ["double"]}


def _edit(kind: str, edit: Callable[[dict[str, Any], Maker], bool]) -> _Change:
    def change(holder: Any, key: Any, maker: Maker) -> bool:
        return _kind(holder[key]) == kind and edit(holder[key], maker)

    return change


def _add_field(record: dict[str, Any], maker: Maker, **default: Any) -> bool:
    record["fields"].insert(0, {"name": maker.name("f"), "type": ["null", "long"], **default})
    return True


def _add_field_of_every_kind(record: dict[str, Any], maker: Maker) -> bool:
    type_, default = maker.rng.choice(
        [
            ("long", 2**53 + 1), ("double", 1.5), ("string", "é"), ("bytes", "ÿ"),
            ({"type": "array", "items": "int"}, [1, 2]),
            ({"type": "map", "values": "int"}, {"k": 1}),
            (["null", "string"], None), (["string", "null"], "x"),
            ({"type": "fixed", "name": maker.name("test.X"), "size": 2}, "ab"),
        ]
    )  # fmt: skip
    record["fields"].append({"name": maker.name("f"), "type": type_, "default": default})
    return True


def _drop_field(record: dict[str, Any], maker: Maker) -> bool:
    if len(record["fields"]) < 2:
        return False
    record["fields"].pop(maker.rng.randrange(len(record["fields"])))
    return True


def _rename_field(record: dict[str, Any], maker: Maker) -> bool:
    field = maker.rng.choice(record["fields"])
    field["aliases"], field["name"] = [field["name"]], maker.name("f")
    return True


def _shuffle_fields(record: dict[str, Any], maker: Maker) -> bool:
    maker.rng.shuffle(record["fields"])
    return True


def _rename(prefix: str, alias: bool) -> Callable[[dict[str, Any], Maker], bool]:
    def edit(named: dict[str, Any], maker: Maker) -> bool:
        if alias:
            named["aliases"] = [named["name"]]
        named["name"] = maker.name(prefix)
        return True

    return edit


def _change_namespace(named: dict[str, Any], maker: Maker) -> bool:
    named["name"] = f"other.{named['name'].rpartition('.')[2]}"
    return True


def _resize(fixed: dict[str, Any], maker: Maker) -> bool:
    fixed["size"] += 1
    return True


def _add_symbol(enum: dict[str, Any], maker: Maker) -> bool:
    enum["symbols"].insert(0, maker.name("S"))
    return True


def _drop_symbol(default: bool) -> Callable[[dict[str, Any], Maker], bool]:
    def edit(enum: dict[str, Any], maker: Maker) -> bool:
        if len(enum["symbols"]) < 2:
            return False
        enum["symbols"].pop()
        enum.pop("default", None)
        enum.update({"default": enum["symbols"][0]} if default else {})
        return True

    return edit


def _add_branch(holder: Any, key: Any, maker: Maker) -> bool:
    if not isinstance(holder[key], list) or any(_kind(each) == "double" for each in holder[key]):
        return False
    holder[key].append("double")
    return True


def _drop_branch(holder: Any, key: Any, maker: Maker) -> bool:
    if not isinstance(holder[key], list) or len(holder[key]) < 2:
        return False
    holder[key].pop()
    return True


def _make_optional(holder: Any, key: Any, maker: Maker) -> bool:
    if isinstance(holder, list) or isinstance(holder[key], list) or "default" in holder:
        return False
    holder[key] = ["null", holder[key]]
    return True


def _mismatch(kind: str, maker: Maker) -> Any:
    return "boolean" if kind != "boolean" else {"type": "array", "items": "string"}


COMPATIBLE: dict[str, _Change] = {
    "same": lambda holder, key, maker: True,
    "widen": _replace_kind({*_WIDER}, lambda kind, maker: maker.rng.choice(_WIDER[kind])),
    "text to bytes": _replace_kind({"string"}, lambda kind, maker: "bytes"),
    "bytes to text": _replace_kind({"bytes"}, lambda kind, maker: "string"),
    "add a field": _edit("record", _add_field_of_every_kind),
    "drop a field": _edit("record", _drop_field),
    "rename a field": _edit("record", _rename_field),
    "shuffle fields": _edit("record", _shuffle_fields),
    "rename a record": _edit("record", _rename("test.R", alias=True)),
    "rename an enum": _edit("enum", _rename("test.E", alias=True)),
    "rename a fixed": _edit("fixed", _rename("test.X", alias=True)),
    "change a namespace": _edit("record", _change_namespace),
    "add a symbol": _edit("enum", _add_symbol),
    "drop a symbol with a default": _edit("enum", _drop_symbol(default=True)),
    "add a branch": _add_branch,
    "make optional": _make_optional,
}
INCOMPATIBLE: dict[str, _Change] = {
    "NAME_MISMATCH": _edit("record", _rename("test.R", alias=False)),
    "FIXED_SIZE_MISMATCH": _edit("fixed", _resize),
    "MISSING_ENUM_SYMBOLS": _edit("enum", _drop_symbol(default=False)),
    "READER_FIELD_MISSING_DEFAULT_VALUE": _edit("record", _add_field),
    "TYPE_MISMATCH": _replace_kind({*PRIMITIVES, "array", "map"}, _mismatch),
    "MISSING_UNION_BRANCH": _drop_branch,
}
_CHANGES = COMPATIBLE | INCOMPATIBLE
