"""Random Avro schemas, values of them, and readers evolved from writers."""

from __future__ import annotations

import copy
import random
import string
from collections.abc import Callable, Iterator
from typing import Any

PRIMITIVES = ("boolean", "int", "long", "float", "double", "bytes", "string")
_NAMED = ("record", "enum", "fixed")
_EDGES = (0, 1, -1, 2**24 + 1, 2**31 - 1, -(2**31), 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1)


class Maker:
    """Makes schemas and values from one source of randomness; every name it gives is new."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._names = 0

    def name(self, prefix: str) -> str:
        """Give a name not given before."""
        self._names += 1
        return f"{prefix}{self._names}"

    def record(self, depth: int = 0) -> dict[str, Any]:
        """Make a record schema; at its root it holds at least one of each named type."""
        fields = [self.field(depth + 1) for _ in range(self.rng.randint(1, 4))]
        if depth == 0:
            fields += [{"name": self.name("f"), "type": self.named(kind, 2)} for kind in _NAMED]
            fields += [{"name": self.name("f"), "type": self.union(2)}]
        return {"type": "record", "name": self.name("test.R"), "fields": fields}

    def field(self, depth: int) -> dict[str, Any]:
        """Make a field without a default."""
        return {"name": self.name("f"), "type": self.type(depth)}

    def type(self, depth: int) -> Any:
        """Make any type; deep down only plain ones."""
        kinds = ("plain",) if depth > 2 else ("plain", "plain", "named", "array", "map", "union")
        match self.rng.choice(kinds):
            case "named":
                return self.named(self.rng.choice(_NAMED), depth)
            case "array":
                return {"type": "array", "items": self.type(depth + 1)}
            case "map":
                return {"type": "map", "values": self.type(depth + 1)}
            case "union":
                return self.union(depth)
        return self.rng.choice(PRIMITIVES)

    def named(self, kind: str, depth: int) -> dict[str, Any]:
        """Make a record, an enum or a fixed."""
        if kind == "record":
            return self.record(depth)
        if kind == "fixed":
            return {"type": "fixed", "name": self.name("test.X"), "size": self.rng.randint(1, 5)}
        symbols = [self.name("S") for _ in range(self.rng.randint(2, 4))]
        schema = {"type": "enum", "name": self.name("test.E"), "symbols": symbols}
        return schema | ({"default": symbols[0]} if self.rng.random() < 0.3 else {})

    def union(self, depth: int) -> list[Any]:
        """Make a union of branches that no value confuses."""
        plain = ["boolean", self.rng.choice(["int", "long"]), "string", "bytes"]
        others = [self.named(kind, depth) for kind in ("record",) if depth < 3]
        branches = self.rng.sample(plain + others, self.rng.randint(1, 3))
        return ["null", *branches] if self.rng.random() < 0.8 else branches

    def value(self, schema: Any) -> Any:
        """Make a value of a schema whose references are all definitions."""
        if isinstance(schema, list):
            return self.value(self.rng.choice(schema))
        if isinstance(schema, str):
            return self._plain(schema)
        count = range(self.rng.randint(0, 3))
        match schema["type"]:
            case "record":
                return {each["name"]: self.value(each["type"]) for each in schema["fields"]}
            case "array":
                return [self.value(schema["items"]) for _ in count]
            case "map":
                return {self.name("k"): self.value(schema["values"]) for _ in count}
        enum = schema["type"] == "enum"
        return self.rng.choice(schema["symbols"]) if enum else self.rng.randbytes(schema["size"])

    def _plain(self, kind: str) -> Any:
        makers: dict[str, Callable[[], Any]] = {
            "null": lambda: None,
            "boolean": lambda: self.rng.random() < 0.5,
            "int": lambda: self._integer(31),
            "long": lambda: self._integer(63),
            "float": lambda: self.rng.randint(-(2**24), 2**24) / 2 ** self.rng.randint(0, 20),
            "double": lambda: self.rng.uniform(-1e9, 1e9),
            "bytes": lambda: self.text().encode(),
            "string": self.text,
        }
        return makers[kind]()

    def _integer(self, bits: int) -> int:
        edge = self.rng.choice(_EDGES)
        fits = -(2**bits) <= edge < 2**bits and self.rng.random() < 0.3
        return edge if fits else self.rng.randint(-1_000, 1_000)

    def text(self) -> str:
        """Make a text from all over Unicode."""
        codes = [self.rng.choice([0x41, 0xE9, 0x20AC, 0x1F600, 0, 0x10FFFF, 0x7F]) for _ in "1234"]
        return "".join(map(chr, codes[: self.rng.randint(0, 4)])) + self.rng.choice(
            string.ascii_letters
        )


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


# Each change returns whether it could be made at this place.
_Change = Callable[[Any, Any, Maker], bool]


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
