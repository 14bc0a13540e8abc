"""Readers from Avro bytes to values, one for each type.

    null          nothing
    boolean       one byte, 0 or 1
    int, long     varint: 7 bits a byte, lowest first, high bit = more; zig-zag (0, -1, 1, -2, ...)
    float         4 bytes, IEEE 754, little-endian
    double        8 bytes, the same
    bytes         long = length, then the bytes
    string        long = length, then UTF-8
    fixed         its bytes
    enum          int = index of the symbol
    union         int = index of the branch, then its value
    array         blocks; each: long = count (if negative: minus the count, then long = size in
                  bytes), then the items; a count of 0 ends the array
    map           like an array of pairs: string, value
    record        its fields in order, nothing around them

A reader takes the payload and an offset, and returns the value and the offset after it. Each
length and count is compared with the bytes that are left, and the values of records, arrays and
maps with the number that the payload may still become, before anything is allocated for them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence, Set
from typing import Any, Final, NoReturn, TypeAlias

from penstock.errors import (
    InvalidTextError,
    LossyWideningError,
    PayloadLimitError,
    SchemaConflictError,
    TruncatedPayloadError,
    UndecodablePayloadError,
)
from penstock.schemas._errors import READ_ERRORS, LocatedError, located
from penstock.schemas._json import MAX_VALUES
from penstock.schemas._types import INTEGER_LIMITS


class Payload(bytes):
    """The bytes of one payload, and the number of values that they may still become."""

    left: int = MAX_VALUES

    def spend(self, values: int) -> None:
        """Count values; too many are rejected, because a few bytes can become millions."""
        self.left -= values
        if self.left < 0:
            message = f"found more than {MAX_VALUES:,} values in the payload, expected at most that"
            raise LocatedError(PayloadLimitError, message)


Reader: TypeAlias = Callable[[Payload, int], tuple[Any, int]]

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")


def _refuse(found: str, at: int, expected: str) -> NoReturn:
    raise LocatedError(UndecodablePayloadError, f"found {found} at byte {at}, expected {expected}")


def _read_null(_data: Payload, at: int) -> tuple[None, int]:
    return None, at


def _read_boolean(data: Payload, at: int) -> tuple[bool, int]:
    byte = data[at]
    if byte > 1:
        _refuse(f"0x{byte:02x}", at, "a boolean of 0x00 or 0x01")
    return byte == 1, at + 1


def _varint_reader(bits: int) -> Reader:
    longest = -(-bits // 7)

    def read_varint(data: Payload, at: int) -> tuple[int, int]:
        number = data[at]
        if number < 0x80:
            return (number >> 1) ^ -(number & 1), at + 1
        number &= 0x7F
        for index in range(1, longest):
            byte = data[at + index]
            number |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                if number >> bits:
                    break
                return (number >> 1) ^ -(number & 1), at + index + 1
        _refuse(f"varint {data[at : at + longest].hex()}", at, f"one of {bits} bits")

    return read_varint


_read_int = _varint_reader(32)
_read_long = _varint_reader(64)


def _read_float(data: Payload, at: int) -> tuple[float, int]:
    return _FLOAT.unpack_from(data, at)[0], at + 4


def _read_double(data: Payload, at: int) -> tuple[float, int]:
    return _DOUBLE.unpack_from(data, at)[0], at + 8


def _refuse_size(size: int, data: Payload, at: int) -> NoReturn:
    if size < 0:
        _refuse(f"length {size:,}", at, "0 or more")
    message = f"claims {size:,} bytes at byte {at}, where {len(data) - at:,} are left"
    raise LocatedError(TruncatedPayloadError, message)


def _read_bytes(data: Payload, at: int) -> tuple[bytes, int]:
    size, at = _read_long(data, at)
    end = at + size
    if size < 0 or end > len(data):
        _refuse_size(size, data, at)
    return data[at:end], end


def _read_string(data: Payload, at: int) -> tuple[str, int]:
    text, end = _read_bytes(data, at)
    try:
        return text.decode(), end
    except UnicodeDecodeError as error:
        wrong = end - len(text) + error.start
        message = f"found 0x{data[wrong]:02x} at byte {wrong}, expected UTF-8 ({error.reason})"
        raise LocatedError(InvalidTextError, message) from None


def fixed_reader(size: int) -> Reader:
    """Return the reader of a fixed type of this size."""

    def read_fixed(data: Payload, at: int) -> tuple[bytes, int]:
        end = at + size
        if end > len(data):
            _refuse_size(size, data, at)
        return data[at:end], end

    return read_fixed


def widening_reader(read: Reader, kind: str) -> Reader:
    """Return a reader of whole numbers as a float or double; one that would round is rejected."""
    low, high = INTEGER_LIMITS[kind]

    def read_widened(data: Payload, at: int) -> tuple[float, int]:
        number, end = read(data, at)
        if not low <= number <= high:
            message = (
                f"found {number} at byte {at}, which a {kind} would round, expected {low} to {high}"
            )
            raise LocatedError(LossyWideningError, message)
        return float(number), end

    return read_widened


# Readers by the kind of the writer's type and of the reader's type.
PRIMITIVE_READERS: Final[dict[tuple[str, str], Reader]] = {
    ("null", "null"): _read_null,
    ("boolean", "boolean"): _read_boolean,
    ("int", "int"): _read_int,
    ("int", "long"): _read_int,
    ("int", "float"): widening_reader(_read_int, "float"),
    ("int", "double"): widening_reader(_read_int, "double"),
    ("long", "long"): _read_long,
    ("long", "float"): widening_reader(_read_long, "float"),
    ("long", "double"): widening_reader(_read_long, "double"),
    ("float", "float"): _read_float,
    ("float", "double"): _read_float,
    ("double", "double"): _read_double,
    ("bytes", "bytes"): _read_bytes,
    ("bytes", "string"): _read_string,
    ("string", "string"): _read_string,
    ("string", "bytes"): _read_bytes,
}


def enum_reader(symbols: Sequence[str], known: Set[str], default: str | None) -> Reader:
    """Return the reader of an enum; a symbol that is not `known` becomes the default.

    Without a default, such a symbol is rejected.
    """
    values = [symbol if symbol in known else default for symbol in symbols]

    def read_enum(data: Payload, at: int) -> tuple[str, int]:
        index, end = _read_int(data, at)
        if not 0 <= index < len(values):
            _refuse(f"symbol number {index}", at, f"0 to {len(values) - 1}")
        value = values[index]
        if value is None:
            message = f"symbol {symbols[index]} is not among the reader's, which name no default"
            raise LocatedError(SchemaConflictError, message)
        return value, end

    return read_enum


def union_reader(branches: Sequence[Reader]) -> Reader:
    """Return the reader of a union: the number of a branch, then its value."""
    by_byte = {number << 1: read for number, read in enumerate(branches[:64])}

    def read_union(data: Payload, at: int) -> tuple[Any, int]:
        read = by_byte.get(data[at])
        if read is not None:  # the number takes one byte in a union of at most 64 types
            return read(data, at + 1)
        number, after = _read_int(data, at)
        if not 0 <= number < len(branches):
            _refuse(f"branch number {number}", at, f"0 to {len(branches) - 1}")
        return branches[number](data, after)

    return read_union


def array_reader(read_item: Reader, values: int = 1) -> Reader:
    """Return the reader of an array: the items of all its blocks; an item counts as `values`."""

    def read_array(data: Payload, at: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        while True:
            count, end, at = _read_block(data, at)
            if count == 0:
                return items, at
            data.spend(count * values)
            try:
                for _ in range(count):
                    item, at = read_item(data, at)
                    items.append(item)
            except READ_ERRORS as error:
                raise located(error, f"[{len(items)}]") from None
            if end not in {None, at}:
                _refuse(f"block that ends at byte {at}", at, f"one that ends at {end}, as it says")

    return read_array


def _read_block(data: Payload, at: int) -> tuple[int, int | None, int]:
    """Read a block's count, its end if the block states it, and the offset of its first item."""
    end = None
    count, at = _read_long(data, at)
    if count < 0:
        size, at = _read_long(data, at)
        count, end = -count, at + size
    # An item takes at least one byte: check_schema rejects items that take none.
    if count > len(data) - at:
        message = f"claims {count:,} items at byte {at}, where {len(data) - at:,} bytes are left"
        raise LocatedError(TruncatedPayloadError, message)
    return count, end, at


def map_reader(read_value: Reader) -> Reader:
    """Return the reader of a map; the last value of a repeated key is used."""

    def read_entry(data: Payload, at: int) -> tuple[tuple[str, Any], int]:
        key, at = _read_string(data, at)
        value, at = read_value(data, at)
        return (key, value), at

    read_entries = array_reader(read_entry, values=2)

    def read_map(data: Payload, at: int) -> tuple[dict[str, Any], int]:
        entries, end = read_entries(data, at)
        return dict(entries), end

    return read_map
