"""The compiler from the types of a schema to the functions that write their values."""

from __future__ import annotations

from typing import Final

from penstock.schemas._defaults import DefaultReader
from penstock.schemas._types import AvroType
from penstock.schemas._writers import (
    PRIMITIVE_WRITERS,
    Writer,
    array_writer,
    enum_writer,
    fixed_writer,
    map_writer,
    record_writer,
    union_writer,
)

# The kinds of union branch that a value of each Python type is tried against, in this order.
_KINDS: Final = {
    type(None): ("null",),
    bool: ("boolean",),
    int: ("int", "long", "double", "float"),
    float: ("double", "float"),
    str: ("enum", "string"),
    bytes: ("fixed", "bytes"),
    list: ("array",),
    dict: ("record", "map"),
}


class Encoding:
    """Compiles the writer of one schema; each type inside it is compiled once."""

    def __init__(self) -> None:
        self._known: dict[int, Writer] = {}
        self._defaults = DefaultReader()

    def compile(self, type_: AvroType) -> Writer:
        """Return the function that writes a value of the type."""
        if id(type_) not in self._known:
            self._known[id(type_)] = self._compile(type_)
        return self._known[id(type_)]

    def _compile(self, type_: AvroType) -> Writer:
        if type_.item:
            write_item = self.compile(type_.item)
            return array_writer(write_item) if type_.kind == "array" else map_writer(write_item)
        match type_.kind:
            case "record":
                return self._compile_record(type_)
            case "union":
                return self._compile_union(type_)
            case "enum":
                return enum_writer(type_.symbols)
            case "fixed":
                return fixed_writer(type_.size)
            case kind:
                return PRIMITIVE_WRITERS[kind]

    def _compile_record(self, record: AvroType) -> Writer:
        steps = [(field.name, self.compile(field.type)) for field in record.fields]
        defaults = {
            field.name: self._defaults.read(field.type, field.attributes["default"], field.name)
            for field in record.fields
            if "default" in field.attributes
        }
        return record_writer(steps, defaults)

    def _compile_union(self, union: AvroType) -> Writer:
        branches = [
            (branch.kind, number, self.compile(branch))
            for number, branch in enumerate(union.branches)
        ]
        choices = {
            type_: [(n, write) for kind in kinds for own, n, write in branches if own == kind]
            for type_, kinds in _KINDS.items()
        }
        return union_writer(choices, union.label())
