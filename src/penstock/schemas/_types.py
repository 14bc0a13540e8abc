"""An Avro schema as a graph of types, in which every reference is replaced by the type it names.

Avro has several ways to write one type. The functions of this package read schemas through this
graph, so that they do not depend on the way a schema is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import InvalidSchemaError, RecursiveSchemaError, SchemaLimitError

if TYPE_CHECKING:  # definition.py checks schemas through this graph
    from penstock.schemas.definition import Schema

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
NUMBERS = ("int", "long", "float", "double")
# The whole numbers that each number type holds without rounding.
INTEGER_LIMITS: Final = {
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    # Beyond these limits some whole numbers are rounded. A few larger ones are exact, but a range
    # can be explained in a message, and Spark can check it too, which sees only the double.
    "float": (-(2**24), 2**24),
    "double": (-(2**53), 2**53),
}

_NAMED = ("record", "enum", "fixed")
_ITEM_KEYS = {"array": "items", "map": "values"}

_SHOWN_SYMBOLS = 5
_SHOWN_CHARACTERS = 200

# A schema can reference one type twice, and that type can do the same: 30 lines of text expand to
# 2^30 fields. The functions of this package walk the expanded form, so its size is bounded.
MAX_EXPANDED_TYPES = 100_000
LOGICAL: Final = ("logicalType", "precision", "scale")
# The kind that Avro defines each for, which it ignores on another kind.
_KIND_OF: Final = {
    "date": "int",
    "time-millis": "int",
    "timestamp-millis": "long",
    "timestamp-micros": "long",
    "timestamp-nanos": "long",
    "local-timestamp-millis": "long",
    "local-timestamp-micros": "long",
    "local-timestamp-nanos": "long",
    "time-micros": "long",
}
_STRUCTURE = frozenset(
    {"type", "name", "namespace", "aliases", "fields", "symbols", "items", "values", "size"}
)


@dataclass(slots=True, eq=False)
class AvroField:
    """One field of a record; `attributes` holds everything except name, type and aliases."""

    name: str
    type: AvroType
    aliases: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def json_name(self) -> str:
        """The name that the field has in a JSON event."""
        return str(self.attributes.get("jsonName", self.name))


@dataclass(slots=True, eq=False)
class AvroType:
    """One type; `kind` determines which of the attributes below are set. Names are full names."""

    kind: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    fields: tuple[AvroField, ...] = ()
    branches: tuple[AvroType, ...] = ()
    item: AvroType | None = None  # of an array or, as the value, of a map
    symbols: tuple[str, ...] = ()
    size: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def short_name(self) -> str:
        """The name without its namespace; Avro compares only this part."""
        return self.name.rpartition(".")[2]

    @property
    def logical(self) -> tuple[Any, ...]:
        """The logical type, a decimal with its precision and scale.

        It is empty for a plain type, for one that Avro ignores as invalid, and for text, which
        is the same text under each.
        """
        name = self.attributes.get("logicalType")
        if not isinstance(name, str) or self.kind == "string":
            return ()
        if self.kind != _KIND_OF.get(name, self.kind):
            return ()
        if name != "decimal":
            return (name,)
        precision, scale = self.attributes.get("precision"), self.attributes.get("scale", 0)
        is_valid = (
            self.kind in {"bytes", "fixed"}
            and type(precision) is type(scale) is int
            and 0 <= scale <= precision > 0
        )
        return (name, precision, scale) if is_valid else ()

    @property
    def nullable(self) -> bool:
        """Return whether the type is a union with null."""
        return any(branch.kind == "null" for branch in self.branches)

    def children(self) -> tuple[AvroType, ...]:
        """Return the types directly inside this one."""
        inside = (self.item,) if self.item else ()
        return (*inside, *self.branches, *(each.type for each in self.fields))

    def label(self) -> str:
        """Return the type in a few words for a message: `array of long`, `decimal(10, 2)`."""
        text = self.describe(_SHOWN_SYMBOLS)
        return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."

    def describe(self, symbols: int | None = None) -> str:
        """Return the type in words, with the first symbols of each enum, or all of them."""
        if self.kind == "union":
            words = [branch.describe(symbols) for branch in self.branches if branch.kind != "null"]
            return " or ".join(words) + (" (optional)" if self.nullable else "")
        if self.item is not None:
            return f"{self.kind} of {self.item.describe(symbols)}"
        if self.logical:
            name, *digits = self.logical
            return f"{name}({', '.join(map(str, digits))})" if digits else str(name)
        if self.kind == "enum":
            more = ", ..." if len(self.symbols[:symbols]) < len(self.symbols) else ""
            return f"enum {self.short_name} [{', '.join(self.symbols[:symbols])}{more}]"
        size = f"({self.size})" if self.size else ""
        return f"{self.kind} {self.short_name}{size}" if self.name else self.kind


def resolve(schema: Schema, *, recursive: bool = False) -> AvroType:
    """Build the graph of a checked schema; `recursive` allows a type that contains itself.

    Raises:
        RecursiveSchemaError: a type contains itself, and `recursive` is false.
        SchemaLimitError: expanded, without references, the schema has too many types.
    """
    return _Resolver(recursive).resolve(schema, "")


class _Resolver:
    """Builds one graph; holds the types named so far and the expanded size of each."""

    def __init__(self, recursive: bool) -> None:
        self._recursive = recursive
        self._named: dict[str, AvroType] = {}
        self._sizes: dict[str, int] = {}
        self._open: set[str] = set()
        self._size = 0

    def resolve(self, schema: Schema, namespace: str) -> AvroType:
        self._count(1)
        if isinstance(schema, list):
            return AvroType("union", branches=tuple(self.resolve(b, namespace) for b in schema))
        if isinstance(schema, str):
            return AvroType(schema) if schema in PRIMITIVES else self._refer(schema, namespace)
        kind = schema["type"]
        if kind in _NAMED:
            return self._define(kind, schema, namespace)
        if kind in _ITEM_KEYS:
            item = self.resolve(schema[_ITEM_KEYS[kind]], namespace)
            return AvroType(kind, item=item, attributes=_attributes(schema))
        if kind not in PRIMITIVES:
            return self._refer(kind, namespace)
        return AvroType(kind, attributes=_attributes(schema))

    def _define(self, kind: str, schema: dict[str, Any], namespace: str) -> AvroType:
        name = full_name(schema["name"], schema.get("namespace", namespace))
        space = name.rpartition(".")[0]
        aliases = sorted(full_name(alias, space) for alias in schema.get("aliases", ()))
        attributes = _attributes(schema)
        defined = AvroType(kind, name, tuple(aliases), attributes=attributes)
        before = self._size
        self._named[name] = defined
        self._open.add(name)
        if kind == "record":
            defined.fields = tuple(self._field(each, space) for each in schema["fields"])
        elif kind == "enum":
            defined.symbols = tuple(schema["symbols"])
        else:
            defined.size = schema["size"]
        self._open.remove(name)
        self._sizes[name] = self._size - before
        return defined

    def _field(self, schema: dict[str, Any], space: str) -> AvroField:
        aliases = tuple(sorted(schema.get("aliases", ())))
        type_ = self.resolve(schema["type"], space)
        return AvroField(schema["name"], type_, aliases, _attributes(schema))

    def _refer(self, reference: str, namespace: str) -> AvroType:
        name = full_name(reference, namespace)
        # Like Avro for Java: first the name in the namespace, then the name without one.
        name = name if name in self._named else reference
        if name not in self._named:
            raise InvalidSchemaError(f"the schema refers to {reference}, which it does not define")
        if name in self._open and not self._recursive:
            raise RecursiveSchemaError(f"the type {name} contains itself")
        self._count(self._sizes.get(name, 0))
        return self._named[name]

    def _count(self, types: int) -> None:
        self._size += types
        if self._size > MAX_EXPANDED_TYPES:
            raise SchemaLimitError(
                f"written out without references the schema has more than {MAX_EXPANDED_TYPES:,} "
                "types"
            )


def holds(kind: str, number: int) -> bool:
    """Return whether a number is in the range in which a type holds every whole number exactly."""
    low, high = INTEGER_LIMITS[kind]
    return low <= number <= high


def full_name(name: str, namespace: str | None) -> str:
    """Return a name with the namespace in front, unless the name has its own."""
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _attributes(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: schema[key] for key in sorted(schema) if key not in _STRUCTURE}
