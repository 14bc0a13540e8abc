"""Avro definitions as graphs of types, checked by the rules of the Avro that Glue has: 1.11.4.

"S" is the Apache Avro 1.11 specification, "J" Apache Avro for Java 1.11.4, which AWS's own
serialisers use. AWS, Glue Developer Guide, "AWS Glue Schema registry": "The Schema registry
supports AVRO (v1.11.4) data format". Where S and J differ, the one that refuses more decides.

| rule                                                                 | source              |
| -------------------------------------------------------------------- | ------------------- |
| names are [A-Za-z_][A-Za-z0-9_]*, with dots between those of a space | S, "Names"          |
| a name without dots is in the namespace around it                    | S, "Names"          |
| a reference that is not in the namespace is looked up without one    | J, Schema.Names.get |
| a full name is defined once, and before it is used                   | S, "Names"          |
| a union has no union, and no type twice except named ones            | S, "Unions"         |
| symbols are unique; the default of an enum is one of them            | S, "Enums"          |
| the names of a record's fields are unique                            | J, Schema.setFields |
| `order` is ascending, descending or ignore                           | S, "Records"        |
| a default is a value of its type, in the JSON of S's table           | S, "Records"        |
| the default of a union is a value of its first branch                | S, "Records"        |
| an invalid logical type is ignored                                   | S, "Logical Types"  |
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
_RANGES = {"int": 2**31, "long": 2**63}
_ORDERS = ("ascending", "descending", "ignore")
_LATIN_1 = 256
_SHOWN = 60
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FULL_NAME = re.compile(rf"{_NAME.pattern}(\.{_NAME.pattern})*")


class DefinitionError(ValueError):
    """A text is not an Avro definition; the message says where and why."""


@dataclass(slots=True, eq=False)
class AvroType:
    """A type; `parts` are the branches of a union, or the item of an array or a map.

    Names and aliases are full names. `default` is the default symbol of an enum.
    """

    kind: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    parts: tuple[AvroType, ...] = ()
    fields: tuple[AvroField, ...] = ()
    symbols: tuple[str, ...] = ()
    default: str | None = None
    size: int = 0


@dataclass(slots=True, eq=False)
class AvroField:
    """A field of a record; `defaults` holds its default, if it has one."""

    name: str
    aliases: tuple[str, ...]
    type: AvroType
    defaults: tuple[Any, ...]


def parse_definition(definition: str) -> AvroType:
    """Return the type that a definition describes.

    Raises:
        DefinitionError: it is not valid Avro.
    """
    try:
        schema = json.loads(definition, parse_constant=_refuse_constant)
    except RecursionError:
        raise DefinitionError("the definition nests too deep to be read as JSON") from None
    except ValueError as error:
        raise DefinitionError(f"the definition is not JSON: {error}") from None
    return _Parser().parse(schema)


class _Parser:
    """Reads one definition; holds the named types so far, and the defaults to check at the end."""

    def __init__(self) -> None:
        self._named: dict[str, AvroType] = {}
        self._defaults: list[tuple[str, AvroType, Any]] = []

    def parse(self, schema: Any) -> AvroType:
        root = self._type(schema, "", "")
        for path, type_, default in self._defaults:
            if not _holds(type_, default):
                _refuse(path, default, f"a default that is a value of {type_.kind}")
        return root

    def _type(  # noqa: PLR0911 - each kind
        self, schema: Any, path: str, space: str
    ) -> AvroType:
        if isinstance(schema, str):
            return self._reference(schema, path, space)
        if isinstance(schema, list):
            return self._union(schema, path, space)
        match schema.get("type") if isinstance(schema, dict) else None:
            case "record":
                return self._record(schema, path, space)
            case "enum":
                return self._enum(schema, path, space)
            case "fixed":
                return self._fixed(schema, path, space)
            case "array":
                item = self._type(schema.get("items"), f"{path}[]", space)
                return AvroType("array", parts=(item,))
            case "map":
                item = self._type(schema.get("values"), f"{path}{{}}", space)
                return AvroType("map", parts=(item,))
            case str(name):
                return self._reference(name, path, space)
        _refuse(path, schema, "the name of a type, a union, or an object with `type`")

    def _reference(self, name: str, path: str, space: str) -> AvroType:
        if name in PRIMITIVES:
            return AvroType(name)
        for full_name in (_full_name(name, space), name):
            if full_name in self._named:
                return self._named[full_name]
        _refuse(path, name, "a primitive type or a name that is defined before")

    def _union(self, branches: list[Any], path: str, space: str) -> AvroType:
        parts = tuple(self._type(branch, path, space) for branch in branches)
        seen = set()
        for part in parts:
            if part.kind == "union":
                _refuse(path, branches, "no union directly inside a union")
            if (mark := part.name or part.kind) in seen:
                _refuse(path, mark, "each type once in a union")
            seen.add(mark)
        if not parts:
            _refuse(path, branches, "a union of at least one type")
        return AvroType("union", parts=parts)

    def _record(self, schema: dict[str, Any], path: str, space: str) -> AvroType:
        record = self._define("record", schema, path, space)
        space, fields = record.name.rpartition(".")[0], _list(schema, "fields", path)
        record.fields = tuple(self._field(each, path, space) for each in fields)
        names = [field.name for field in record.fields]
        if len(set(names)) < len(names):
            _refuse(path, names, "each field name once in a record")
        return record

    def _field(self, schema: Any, path: str, space: str) -> AvroField:
        if not isinstance(schema, dict):
            _refuse(path, schema, "an object that describes a field")
        name = _name(schema.get("name"), path)
        path = f"{path}.{name}" if path else name
        if schema.get("order", "ascending") not in _ORDERS:
            _refuse(path, schema["order"], f"one of {', '.join(_ORDERS)}")
        type_ = self._type(schema.get("type"), path, space)
        aliases = tuple(_name(each, path) for each in _list(schema, "aliases", path, []))
        defaults = (schema["default"],) if "default" in schema else ()
        self._defaults += [(path, type_, default) for default in defaults]
        return AvroField(name, aliases, type_, defaults)

    def _enum(self, schema: dict[str, Any], path: str, space: str) -> AvroType:
        enum = self._define("enum", schema, path, space)
        enum.symbols = tuple(_name(each, path) for each in _list(schema, "symbols", path))
        if len(set(enum.symbols)) < len(enum.symbols):
            _refuse(path, list(enum.symbols), "each symbol once in an enum")
        if "default" in schema:
            enum.default = schema["default"]
            if enum.default not in enum.symbols:
                _refuse(path, enum.default, "a default that is one of the symbols")
        return enum

    def _fixed(self, schema: dict[str, Any], path: str, space: str) -> AvroType:
        fixed, size = self._define("fixed", schema, path, space), schema.get("size")
        if type(size) is not int or not 0 <= size < _RANGES["int"]:
            _refuse(path, size, "a size in bytes")
        fixed.size = size
        return fixed

    def _define(self, kind: str, schema: dict[str, Any], path: str, space: str) -> AvroType:
        own = _name(schema.get("name"), path, _FULL_NAME)
        space = schema.get("namespace", space)
        if space != "":
            _name(space, path, _FULL_NAME)
        name = _full_name(own, space)
        if name in self._named or name in PRIMITIVES:
            _refuse(path, name, "a name that is neither defined already nor a primitive type")
        aliases = (_name(each, path, _FULL_NAME) for each in _list(schema, "aliases", path, []))
        space = name.rpartition(".")[0]
        defined = AvroType(kind, name, tuple(_full_name(each, space) for each in aliases))
        self._named[name] = defined
        return defined


def _holds(type_: AvroType, value: Any) -> bool:  # noqa: PLR0911 - each kind
    """Return whether a default in JSON is a value of a type."""
    match type_.kind, value:
        case "union", _:
            return _holds(type_.parts[0], value)
        case ("null", None) | ("boolean", bool()) | ("string", str()):
            return True
        case (_, bool()):
            return False
        case ("int" | "long") as kind, int():
            return -_RANGES[kind] <= value < _RANGES[kind]
        case (("float" | "double"), int() | float()):
            return True
        case ("bytes" | "fixed") as kind, str():
            fits = kind == "bytes" or len(value) == type_.size
            return fits and all(ord(each) < _LATIN_1 for each in value)
        case "enum", str():
            return value in type_.symbols
        case "array", list():
            return all(_holds(type_.parts[0], each) for each in value)
        case "map", dict():
            return all(_holds(type_.parts[0], each) for each in value.values())
        case "record", dict():
            return all(_holds_field(field, value) for field in type_.fields)
    return False


def _holds_field(field: AvroField, record: dict[str, Any]) -> bool:
    if field.name in record:
        return _holds(field.type, record[field.name])
    return bool(field.defaults)


def _full_name(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


def _list(schema: dict[str, Any], key: str, path: str, default: Any = None) -> list[Any]:
    found = schema.get(key, default)
    if not isinstance(found, list):
        _refuse(path, found, f"`{key}` to be a list")
    return found


def _name(name: Any, path: str, pattern: re.Pattern[str] = _NAME) -> str:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        _refuse(path, name, "a name of ASCII letters, digits and _ that begins with no digit")
    return name


def _refuse(path: str, found: Any, expected: str) -> NoReturn:
    text = repr(found)
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    raise DefinitionError(f"{path or 'the schema'}: found {text}, expected {expected}")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")
