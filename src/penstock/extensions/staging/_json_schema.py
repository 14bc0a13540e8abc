"""The part of JSON Schema (draft 2020-12) that the configuration file needs.

Each schema has a `description` that can follow "expected" in a message. Unlike a validator, this
names every fault of a value with its place and what to write instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]

_SHOWN: Final = 60
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "object": (dict,),
    "string": (str,),
}


def find_faults(value: Any, schema: Schema, path: str = "$") -> Iterator[str]:
    """Yield a message for each fault of a value, with its path."""
    if not _fits(value, schema):
        least = ", at least one" if value in ([], {}) else ""
        yield f"{path}: found {_show(value)}, expected {schema['description']}{least}"
    elif isinstance(value, dict):
        yield from _find_in_object(value, schema, path)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from find_faults(item, schema.get("items", {}), f"{path}[{at}]")


def _fits(value: Any, schema: Schema) -> bool:
    """Return whether a value is valid; its items and fields are not checked."""
    if "anyOf" in schema and not any(
        not list(find_faults(value, each)) for each in schema["anyOf"]
    ):
        return False
    if "type" in schema and type(value) not in _TYPES[schema["type"]]:
        return False
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None and (
            value in schema.get("enum", [value])
        )
    if isinstance(value, list):
        texts = [json.dumps(item) for item in value]
        is_unique = not schema.get("uniqueItems") or len(set(texts)) == len(texts)
        return is_unique and bool(len(value) >= schema.get("minItems", 0))
    if isinstance(value, dict):
        return bool(len(value) >= schema.get("minProperties", 0))
    least: int | None = schema.get("minimum")
    return least is None or (isinstance(value, int) and value >= least)


def _find_in_object(value: Mapping[str, Any], schema: Schema, path: str) -> Iterator[str]:
    known: Mapping[str, Schema] = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    names = schema.get("propertyNames")
    for choice in schema.get("allOf", ()):
        given = [name for name in _names(choice) if name in value]
        if "not" in choice and len(given) > 1:
            yield f"{path}: found {' and '.join(given)}, expected one of them"
        elif "anyOf" in choice and not given:
            names_ = _names(choice)
            yield f"{path}.{names_[0]}: missing, expected {known[names_[0]]['description']}"
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}.{name}: missing, expected {known[name]['description']}"
    for name, item in value.items():
        where = f"{path}.{name}" if re.fullmatch(r"\w+", name) else f"{path}[{json.dumps(name)}]"
        if names and not _fits(name, names):
            yield f"{where}: found the name {_show(name)}, expected {names['description']}"
        if name in known:
            yield from find_faults(item, known[name], where)
        elif others is False:
            yield f"{where}: found a name that is not known, expected one of {', '.join(known)}"
        else:
            yield from find_faults(item, others, where)


def _names(choice: Schema) -> list[str]:
    """Return the names that `not` or `anyOf` is about."""
    if "not" in choice:
        return list(choice["not"]["required"])
    return [name for each in choice["anyOf"] for name in each["required"]]


def _show(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
