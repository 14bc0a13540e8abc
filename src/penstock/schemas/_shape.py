"""The check that a JSON value has the shape of an Avro schema: kinds, names, references, nesting.

A value that passes can be resolved to a graph. The checks that need the graph are in `_limits.py`.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from penstock.errors import InvalidSchemaError, RecursiveSchemaError, SchemaLimitError
from penstock.schemas._errors import place, show
from penstock.schemas._json import MAX_DEPTH
from penstock.schemas._types import PRIMITIVES, full_name

MAX_FIXED_SIZE = 2**20  # Kafka's usual limit for a whole message
MAX_BRANCHES = 256  # comparing two unions takes the product of their sizes
# Names and comments of Glue's columns have 255 at most; one may be `eventNAME_2 before it became `.
MAX_NAME_CHARACTERS = 220

_MAX_NESTING = 5 * MAX_DEPTH  # an optional record in a record is four objects and lists deeper

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FULL_NAME = re.compile(rf"{_NAME.pattern}(\.{_NAME.pattern})*")


def check_shape(schema: Any) -> None:
    """Raise SchemaError if a value does not have the shape of a schema, or contains itself."""
    _Shape().check(schema, "", "", 0)
    _check_nesting(schema)


def _check_nesting(schema: Any) -> None:
    """Raise SchemaLimitError for attributes that no recursive function could walk through."""
    level = [schema]
    for _ in range(_MAX_NESTING):
        lists = [list(each.values()) if isinstance(each, dict) else each for each in level]
        inner = {id(child): child for each in lists for child in each}
        level = [child for child in inner.values() if isinstance(child, dict | list)]
        if not level:
            return
    raise SchemaLimitError(
        f"the schema: expected at most {_MAX_NESTING} objects and lists inside one another"
    )


class _Shape:
    """One walk through one schema, with the names defined so far and those still open."""

    def __init__(self) -> None:
        self._defined: set[str] = set()
        self._open: set[str] = set()

    def check(self, schema: Any, path: str, space: str, depth: int) -> str:
        """Check one type and return its mark, which must be unique among a union's branches."""
        if depth > MAX_DEPTH:
            raise too_deep(path)
        if isinstance(schema, str):
            return self._check_reference(schema, path, space)
        if isinstance(schema, list):
            return self._check_union(schema, path, space, depth)
        if isinstance(schema, dict):
            return self._check_object(schema, path, space, depth)
        _refuse(path, schema, "a type's name, an object or a list")

    def _check_object(self, schema: dict[str, Any], path: str, space: str, depth: int) -> str:
        match schema.get("type"):
            case "record":
                return self._check_record(schema, path, space, depth)
            case "enum":
                return self._check_enum(schema, path, space)
            case "fixed":
                return self._check_fixed(schema, path, space)
            case "array" | "map" as kind:
                key, step = ("items", "[]") if kind == "array" else ("values", "{}")
                self.check(_get_attribute(schema, key, path), f"{path}{step}", space, depth + 1)
                return str(kind)
            case str(reference):
                return self._check_reference(reference, path, space)
            case other:
                _refuse(path, other, "`type` to be the name of a type")

    def _check_reference(self, reference: str, path: str, space: str) -> str:
        if reference in PRIMITIVES:
            return reference
        for name in (full_name(reference, space), reference):
            if name in self._open:
                raise RecursiveSchemaError(
                    f"{place(path)}: type {show(name)} contains itself, expected one that does not"
                )
            if name in self._defined:
                return name
        _refuse(path, reference, "a primitive type or a name defined before")

    def _check_union(self, branches: list[Any], path: str, space: str, depth: int) -> str:
        if not branches:
            _refuse(path, branches, "a union of at least one type")
        if len(branches) > MAX_BRANCHES:
            found = f"a union of {len(branches):,} types"
            raise SchemaLimitError(f"{place(path)}: {found}, expected at most {MAX_BRANCHES}")
        marks = []
        for branch in branches:
            if isinstance(branch, list):
                _refuse(path, branch, "no union directly inside a union")
            marks.append(self.check(branch, path, space, depth))
            if marks[-1] in marks[:-1]:
                _refuse(path, marks[-1], "each type once in a union")
        return "union"

    def _check_record(self, schema: dict[str, Any], path: str, space: str, depth: int) -> str:
        name = self._define(schema, path, space)
        self._open.add(name)
        seen: set[str] = set()
        json_names: set[str] = set()
        for field in _get_list(schema, "fields", path):
            if not isinstance(field, dict):
                _refuse(path, field, "a field to be an object")
            own = _check_name(field.get("name"), path, _NAME)
            if len(own) > MAX_NAME_CHARACTERS:
                raise SchemaLimitError(
                    f"{place(path)}: found a field name of {len(own):,} characters, expected at "
                    f"most {MAX_NAME_CHARACTERS}"
                )
            inside = f"{path}.{own}" if path else own
            if own in seen:
                _refuse(inside, own, "each field name once in a record")
            seen.add(own)
            json_name = _check_json_name(field.get("jsonName", own), inside)
            if json_name in json_names:
                _refuse(inside, json_name, "each JSON name once in a record")
            json_names.add(json_name)
            for alias in _get_list(field, "aliases", inside, []):
                _check_name(alias, inside, _NAME)
            own_space = name.rpartition(".")[0]
            self.check(_get_attribute(field, "type", inside), inside, own_space, depth + 1)
        self._open.remove(name)
        return name

    def _check_enum(self, schema: dict[str, Any], path: str, space: str) -> str:
        name = self._define(schema, path, space)
        symbols = [
            _check_name(symbol, path, _NAME) for symbol in _get_list(schema, "symbols", path)
        ]
        if len(set(symbols)) < len(symbols):
            _refuse(path, symbols, "each symbol once in an enum")
        if "default" in schema and schema["default"] not in symbols:
            _refuse(path, schema["default"], "the default to be one of the enum's symbols")
        return name

    def _check_fixed(self, schema: dict[str, Any], path: str, space: str) -> str:
        size = _get_attribute(schema, "size", path)
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            _refuse(path, size, "the size of a fixed to be a whole number of bytes")
        if size > MAX_FIXED_SIZE:
            raise SchemaLimitError(
                f"{place(path)}: a fixed of {size:,} bytes, expected at most {MAX_FIXED_SIZE:,}"
            )
        return self._define(schema, path, space)

    def _define(self, schema: dict[str, Any], path: str, space: str) -> str:
        own = _check_name(schema.get("name"), path, _FULL_NAME)
        own_space = schema.get("namespace", space)
        if own_space != "":
            _check_name(own_space, path, _FULL_NAME)
        name = full_name(own, own_space)
        if name in PRIMITIVES or name in self._defined:
            _refuse(path, name, "a name that is neither defined already nor a primitive type")
        for alias in _get_list(schema, "aliases", path, []):
            _check_name(alias, path, _FULL_NAME)
        self._defined.add(name)
        return name


def too_deep(path: str) -> SchemaLimitError:
    """Return the error for a schema that is nested too deeply."""
    return SchemaLimitError(
        f"{place(path)}: expected at most {MAX_DEPTH} records, arrays and maps inside one another"
    )


def _get_attribute(schema: dict[str, Any], key: str, path: str) -> Any:
    if key not in schema:
        _refuse(path, schema, f"`{key}`")
    return schema[key]


def _get_list(schema: dict[str, Any], key: str, path: str, default: Any = None) -> list[Any]:
    value = schema.get(key, default)
    if not isinstance(value, list):
        _refuse(path, value, f"`{key}` to be a list")
    return value


def _check_name(name: Any, path: str, pattern: re.Pattern[str]) -> str:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        _refuse(
            path, name, "a name of ASCII letters, digits and _ that does not start with a digit"
        )
    return name


def _check_json_name(name: Any, path: str) -> str:
    if not isinstance(name, str):
        _refuse(path, name, "`jsonName` to be a string")
    try:
        name.encode()
    except UnicodeEncodeError:
        _refuse(path, name, "`jsonName` to be a string without lone surrogates")
    return name


def _refuse(path: str, found: object, expected: str) -> NoReturn:
    raise InvalidSchemaError(f"{place(path)}: found {show(found)}, expected {expected}")
