"""Writers from values to Avro bytes, one for each type (the byte table is in `_readers.py`).

A writer appends to a buffer. A value that cannot be written exactly is rejected: a bool as a
number, a whole number that would round, NaN, a field that the schema does not have, or a value
beyond the limit of its logical type.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Final, NoReturn, TypeAlias

from penstock.errors import UnencodableValueError
from penstock.schemas._defaults import DefaultReader
from penstock.schemas._errors import LocatedError, located, show
from penstock.schemas._types import INTEGER_LIMITS, AvroType
from penstock.schemas.logical import find_limit

Writer: TypeAlias = Callable[[Any, bytearray], None]


def _refuse(value: object, expected: str) -> NoReturn:
    """Raise LocatedError for a value that its type cannot hold."""
    raise LocatedError(UnencodableValueError, f"found {show(value)}, expected {expected}")


def _write_null(value: Any, _out: bytearray) -> None:
    if value is not None:
        _refuse(value, "null")


def _write_boolean(value: Any, out: bytearray) -> None:
    if value is not True and value is not False:
        _refuse(value, "a boolean")
    out.append(value)


def _write_varint(number: int, out: bytearray) -> None:
    number = (number << 1) ^ (number >> 63)
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _to_varint(number: int) -> bytes:
    out = bytearray()
    _write_varint(number, out)
    return bytes(out)


def _integer_writer(kind: str) -> Writer:
    low, high = INTEGER_LIMITS[kind]

    def write_integer(value: Any, out: bytearray) -> None:
        if type(value) is not int or not low <= value <= high:
            _refuse(value, f"{kind}: a whole number from {low} to {high}")
        _write_varint(value, out)

    return write_integer


def _floating_writer(kind: str, layout: str) -> Writer:
    low, high = INTEGER_LIMITS[kind]
    pack = struct.Struct(layout).pack
    expected = f"{kind}: a finite number, if whole from {low} to {high}"

    def write_floating(value: Any, out: bytearray) -> None:
        if type(value) is not float or not isfinite(value):
            if type(value) is not int or not low <= value <= high:
                _refuse(value, expected)
        try:
            out += pack(value)
        except OverflowError:
            _refuse(value, expected)

    return write_floating


def _write_string(value: Any, out: bytearray) -> None:
    if type(value) is not str:
        _refuse(value, "a string")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        _refuse(value, "a string without lone surrogates, which UTF-8 cannot carry")
    _write_varint(len(data), out)
    out += data


def _write_bytes(value: Any, out: bytearray) -> None:
    if type(value) is not bytes:
        _refuse(value, "bytes")
    _write_varint(len(value), out)
    out += value


PRIMITIVE_WRITERS: Final[dict[str, Writer]] = {
    "null": _write_null,
    "boolean": _write_boolean,
    "int": _integer_writer("int"),
    "long": _integer_writer("long"),
    "float": _floating_writer("float", "<f"),
    "double": _floating_writer("double", "<d"),
    "string": _write_string,
    "bytes": _write_bytes,
}


def enum_writer(symbols: Sequence[str]) -> Writer:
    """Return the writer of an enum: the index of the symbol."""
    numbers = {symbol: number for number, symbol in enumerate(symbols)}

    def write_enum(value: Any, out: bytearray) -> None:
        if type(value) is not str or value not in numbers:
            _refuse(value, f"one of {', '.join(symbols)}")
        _write_varint(numbers[value], out)

    return write_enum


def fixed_writer(size: int) -> Writer:
    """Return the writer of a fixed type: bytes of exactly this size."""

    def write_fixed(value: Any, out: bytearray) -> None:
        if type(value) is not bytes or len(value) != size:
            _refuse(value, f"{size} bytes")
        out += value

    return write_fixed


def check_limit(write: Writer, type_: AvroType) -> Writer:
    """Return a writer that refuses what readers refuse: values beyond a logical type's limit."""
    limit = find_limit(type_)
    if limit is None:
        return write

    def write_checked(value: Any, out: bytearray) -> None:
        write(value, out)
        if not limit.holds(value):
            _refuse(value, limit.expected)

    return write_checked


def array_writer(write_item: Writer) -> Writer:
    """Return the writer of an array: one block of all items, then the 0 that ends the array."""

    def write_array(value: Any, out: bytearray) -> None:
        if type(value) is not list:
            _refuse(value, "a list")
        if value:
            _write_varint(len(value), out)
        for index, item in enumerate(value):
            try:
                write_item(item, out)
            except LocatedError as error:
                raise located(error, f"[{index}]") from None
        out.append(0)

    return write_array


def map_writer(write_value: Writer) -> Writer:
    """Return the writer of a map: one block of all entries, then the 0 that ends the map."""

    def write_map(value: Any, out: bytearray) -> None:
        if type(value) is not dict:
            _refuse(value, "a dict")
        if value:
            _write_varint(len(value), out)
        for key, item in value.items():
            try:
                _write_string(key, out)
                write_value(item, out)
            except LocatedError as error:
                raise located(error, f"[{show(key)}]") from None
        out.append(0)

    return write_map


def union_writer(
    choices: Mapping[type, Sequence[tuple[int, Writer]]],
    names: Mapping[str, tuple[int, Writer]],
    label: str,
) -> Writer:
    """Return the writer of a union.

    `choices` holds the branches for each Python type; the first one that takes the value is used.
    A tuple of a branch's name and a value uses the branch of `names`.
    """
    prepared = {
        type_: [(_to_varint(number), write) for number, write in candidates]
        for type_, candidates in choices.items()
        if candidates
    }

    named = {name: [(_to_varint(number), write)] for name, (number, write) in names.items()}

    def write_union(value: Any, out: bytearray) -> None:
        candidates = prepared.get(type(value))
        if type(value) is tuple and len(value) == 2:
            candidates, value = named.get(str(value[0])), value[1]
        if candidates is None:
            _refuse(value, label)
        if len(candidates) > 1:
            return _write_first(value, candidates, out)
        number, write = candidates[0]
        out += number
        return write(value, out)

    return write_union


def _write_first(value: Any, candidates: Sequence[tuple[bytes, Writer]], out: bytearray) -> None:
    start = len(out)
    for number, write in candidates:
        try:
            out += number
            return write(value, out)
        except LocatedError as error:
            refusal = error
            del out[start:]
    raise refusal


def record_writer(steps: Sequence[tuple[str, Writer]], defaults: Mapping[str, Any]) -> Writer:
    """Return the writer of a record: its fields in the schema's order.

    A missing field takes its default.
    """
    names = {name for name, _ in steps}

    def write_record(value: Any, out: bytearray) -> None:
        if type(value) is not dict:
            _refuse(value, "a dict")
        if value.keys() != names:
            value = _complete(value, names, defaults)
        for name, write in steps:
            try:
                write(value[name], out)
            except LocatedError as error:
                raise located(error, f".{name}") from None

    return write_record


def _complete(
    value: dict[str, Any], names: set[str], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the value with the defaults of missing fields; reject fields not in the schema."""
    unknown = sorted(map(show, value.keys() - names))
    if unknown:
        raise LocatedError(
            UnencodableValueError, f"found fields the schema lacks: {', '.join(unknown)}"
        )
    complete = {**defaults, **value}
    absent = sorted(names - complete.keys())
    if absent:
        raise LocatedError(
            UnencodableValueError, f"found no value and no default for {', '.join(absent)}"
        )
    return complete


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
        self._defaults = DefaultReader(writing=True)

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
                return check_limit(fixed_writer(type_.size), type_)
            case kind:
                return check_limit(PRIMITIVE_WRITERS[kind], type_)

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
        names = {
            branch.name or branch.kind: (number, write)
            for branch, (_, number, write) in zip(union.branches, branches, strict=True)
        }
        return union_writer(choices, names, union.label())
