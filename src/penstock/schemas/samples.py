"""Random events that conform to a schema, to try out a pipeline or to put load on it."""

from __future__ import annotations

import base64
import string
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any, Final
from uuid import UUID

from penstock.schemas._types import AvroType, resolve
from penstock.schemas.definition import Schema, check_schema
from penstock.schemas.logical import decimal_of

_Sampler = Callable[[Random], Any]

_MOST_ITEMS = 3
_LETTERS = 6
_BYTES = 4
_MOST_UNITS = 1_000  # of a decimal, before its point


def compile_sampler(schema: Schema) -> Callable[[Random], Any]:
    """Return a function that makes random JSON values that the schema accepts.

    Optional fields always have a value, so that events do not differ in their fields. Bytes are
    strings in base64, as the policy `fixed` takes them.

    Raises:
        SchemaError: the schema is not valid.
    """
    check_schema(schema)
    return _compile(resolve(schema), _MOST_ITEMS)


def _compile(type_: AvroType, most: int) -> _Sampler:
    """Return the sampler of a type; lists and maps in it have at most so many items.

    Those inside others have fewer, so that a sample does not grow with each level.
    """
    if type_.item:
        return _compile_items(type_.kind, _compile(type_.item, max(1, most - 1)), most)
    match type_.kind:
        case "union":
            present = [_compile(branch, most) for branch in type_.branches if branch.kind != "null"]
            samplers = present or [_SCALARS["null"]]
            return lambda random: random.choice(samplers)(random)
        case "record":
            fields = [(field.json_name, _compile(field.type, most)) for field in type_.fields]
            return lambda random: {name: sample(random) for name, sample in fields}
        case "enum":
            return lambda random: random.choice(type_.symbols)
        case "fixed" | "bytes":
            return _compile_bytes(type_)
    is_uuid = type_.kind == "string" and type_.attributes.get("logicalType") == "uuid"
    return _SCALARS["uuid" if is_uuid else type_.kind]


def _compile_items(kind: str, item: _Sampler, most: int) -> _Sampler:
    if kind == "map":
        return lambda random: {_text(random): item(random) for _ in range(most)}
    return lambda random: [item(random) for _ in range(random.randint(1, most))]


def _compile_bytes(type_: AvroType) -> _Sampler:
    is_fixed = type_.kind == "fixed"
    size = type_.size if is_fixed else _BYTES
    decimal = decimal_of(type_)
    if decimal is None:
        return partial(_bytes, size)
    precision, scale = decimal
    return partial(_decimal, min(10**precision, _MOST_UNITS * 10**scale), scale)


def _decimal(most: int, scale: int, random: Random) -> Decimal:
    return Decimal((0, tuple(map(int, str(random.randrange(most)))), -scale))


def _text(random: Random) -> str:
    return "".join(random.choices(string.ascii_lowercase, k=_LETTERS))


def _bytes(size: int, random: Random) -> str:
    return base64.b64encode(random.randbytes(size)).decode()


_SCALARS: Final[dict[str, _Sampler]] = {
    "null": lambda _: None,
    "boolean": lambda random: random.random() < 1 / 2,
    "int": lambda random: random.randrange(1_000),
    "long": lambda random: random.randrange(1_000_000),
    "float": lambda random: random.randrange(400) / 4,  # a float holds quarters exactly
    "double": lambda random: round(random.uniform(0, 100), 2),
    "string": _text,
    "uuid": lambda random: str(UUID(int=random.getrandbits(128), version=4)),
}
