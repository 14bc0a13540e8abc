"""Random events that conform to a schema, to try out a pipeline or to put load on it."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final
from uuid import UUID

from penstock.errors import SchemaError
from penstock.schemas._json import join_path
from penstock.schemas._types import AvroType, resolve
from penstock.schemas.definition import Schema, check_schema

_Sampler = Callable[[Random], Any]

_MOST_ITEMS = 3
_LETTERS = 6


def compile_sampler(schema: Schema) -> Callable[[Random], Any]:
    """Return a function that makes random JSON values that the schema accepts.

    Optional fields always have a value, so that events do not differ in their fields.

    Raises:
        SchemaError: the schema is not valid, or requires a value that no JSON event can hold.
    """
    check_schema(schema)
    return _compile(resolve(schema), "")


def _compile(type_: AvroType, path: str) -> _Sampler:
    match type_.kind:
        case "union":
            return _sample_any(type_.branches, path)
        case "record":
            return _sample_record(type_, path)
        case "enum":
            return lambda random: random.choice(type_.symbols)
        case "array" if type_.item:
            item = _compile(type_.item, f"{path}[]")
            return lambda random: [item(random) for _ in range(random.randint(1, _MOST_ITEMS))]
        case "map" if type_.item:
            item = _compile(type_.item, f"{path}{{}}")
            return lambda random: {_text(random): item(random) for _ in range(_MOST_ITEMS)}
        case kind if kind in _SCALARS:
            is_uuid = type_.logical[:1] == ("uuid",)
            return _uuid if is_uuid and kind == "string" else _SCALARS[kind]
    raise SchemaError(
        f"{path}: found {type_.label()}, which no JSON event can hold, expected an optional field "
        "or another type"
    )


def _sample_record(record: AvroType, path: str) -> _Sampler:
    fields = [
        (field.json_name, _compile(field.type, join_path(path, field.json_name)))
        for field in record.fields
    ]
    return lambda random: {name: sample(random) for name, sample in fields}


def _sample_any(branches: Sequence[AvroType], path: str) -> _Sampler:
    """Return a sampler of any branch that JSON can hold; null only if there is no other."""
    samplers = []
    for branch in branches:
        try:
            samplers.append((branch.kind, _compile(branch, path)))
        except SchemaError as error:
            problem = error
    if not samplers:
        raise problem
    chosen = [sample for kind, sample in samplers if kind != "null"] or [samplers[0][1]]
    return lambda random: random.choice(chosen)(random)


def _text(random: Random) -> str:
    return "".join(random.choices(string.ascii_lowercase, k=_LETTERS))


def _uuid(random: Random) -> str:
    return str(UUID(int=random.getrandbits(128), version=4))


_SCALARS: Final[dict[str, _Sampler]] = {
    "null": lambda _: None,
    "boolean": lambda random: random.random() < 1 / 2,
    "int": lambda random: random.randrange(1_000),
    "long": lambda random: random.randrange(1_000_000),
    "float": lambda random: random.randrange(400) / 4,  # a float holds quarters exactly
    "double": lambda random: round(random.uniform(0, 100), 2),
    "string": _text,
}
