"""Random Avro schemas, values of them, and random damage to their bytes."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from typing import Any

from penstock.schemas import encode

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


def damage(payload: bytes, rng: random.Random) -> bytes:
    """Change a few bytes: flipped, put in, taken out, or a whole number of any size."""
    damaged = bytearray(payload)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(damaged) + 1)
        match rng.randrange(4):
            case 0 if at < len(damaged):
                damaged[at] ^= 1 << rng.randrange(8)
            case 1:
                damaged[at:at] = rng.randbytes(rng.randint(1, 4))
            case 2:
                del damaged[at : at + rng.randint(1, 4)]
            case _:
                damaged[at : at + 1] = encode(rng.randint(-(2**63), 2**63 - 1), "long")
    return bytes(damaged)
