"""Events to rows of a shape."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from penstock.errors import UnroutableError
from penstock.records.record import Record, Source
from penstock.records.shape import DELETED, ORDER, Mode, RowShape

_MAX_TIMESTAMP: Final = 10**13 - 1
_OURS: Final = ("_topic", "_source", "_schema", "_schemaId", "_event")
_ALL: Final = 2**64 - 1
_NEGATIVE: Final = 2**63
_MIDDLE: Final = 2**15  # a whole number within 64 bits is at most 1,024 from its double
_OFFSET_SIZE: Final = 8


def make_row(
    shape: RowShape, event: Any, source: Source, schema_number: int, schema_id: str
) -> dict[str, Any]:
    """Make the row of an event.

    Raises:
        UnroutableError: it is not an object, or lacks a field that the shape needs.
    """
    if not isinstance(event, Mapping):
        raise UnroutableError(f"{source}: found {type(event).__name__}, expected an event")
    key = {shape.key_attribute: _join(event, shape.key, source)}
    if shape.sort_name is not None:
        key[shape.sort_name] = _sort(shape, event, source)
    order = {} if shape.mode is Mode.APPEND else {ORDER: _order(shape.order, event, source)}
    ours = [
        name
        for name in (*key, *((ORDER, DELETED) if order else ()))
        if (name,) not in (shape.key, shape.sort)
    ]
    hidden = {name: event[name] for name in (*_OURS, *ours) if name in event}
    return {
        **event,
        **({"_event": hidden} if hidden else {}),
        **key,
        "_topic": source.topic,
        "_source": str(source),
        "_schema": schema_number,
        "_schemaId": schema_id,
        **order,
    }


def make_deletion(shape: RowShape, record: Record) -> dict[str, Any]:
    """Make what is left of the row that a tombstone deletes.

    Raises:
        UnroutableError: the record has no key, or one that is not text.
    """
    try:
        key = (record.key or b"").decode()
    except UnicodeDecodeError:
        key = ""
    if not key:
        raise UnroutableError(
            f"{record.source}: found a tombstone with key {record.key!r}, expected a text"
        )
    return {
        shape.key_attribute: key,
        "_topic": record.source.topic,
        "_source": str(record.source),
        ORDER: _order((), {}, record.source),
        DELETED: True,
    }


def write_key(shape: RowShape, event: Mapping[str, Any]) -> bytes:
    """Write the Kafka key of an event: records of one row go to one partition."""
    return "/".join(_escape(str(event[field]), shape.key) for field in shape.key).encode()


def _sort(shape: RowShape, event: Mapping[str, Any], source: Source) -> str:
    if shape.sort:
        return _join(event, shape.sort, source)
    place = f"{source.topic}-{source.partition}-{source.offset}"
    if shape.event_time is None:
        return place
    time = event.get(shape.event_time)
    if type(time) is not int or not 0 <= time <= _MAX_TIMESTAMP:
        raise UnroutableError(
            f"{source}: found {shape.event_time} {time!r}, expected milliseconds since 1970"
        )
    return f"{time:013d}-{place}"


def _join(event: Mapping[str, Any], fields: Sequence[str], source: Source) -> str:
    """Join the values of a key's fields; a lone field is text, several may be whole numbers too."""
    if len(fields) == 1 and type(lone := event.get(fields[0])) is str and lone:
        return lone
    kinds = (str,) if len(fields) == 1 else (str, int)
    for field in fields:
        value = event.get(field)
        if type(value) not in kinds or value == "":
            expected = " or a whole number" if len(fields) > 1 else ""
            raise UnroutableError(f"{source}: found {field} {value!r}, expected a text{expected}")
    return "/".join(_escape(str(event[field]), fields) for field in fields)


def _escape(text: str, fields: Sequence[str]) -> str:
    """Let no two keys of several fields be joined to one text."""
    return text if len(fields) == 1 else text.replace("%", "%25").replace("/", "%2F")


def _order(fields: Sequence[str], event: Mapping[str, Any], source: Source) -> str:
    """Write text that is greater for a newer version: the fields in their order, then the offset.

    Of versions that are equal in all fields the later record is newer, in whatever order they
    arrive, and a record that comes again equals itself.
    """
    parts = [_write_ordered(event.get(field), field, source) for field in fields]
    return b"".join([*parts, source.offset.to_bytes(_OFFSET_SIZE)]).hex()


def _write_ordered(value: Any, field: str, source: Source) -> bytes:
    """Write a value so that bytes compare as values do, numbers before texts."""
    if isinstance(value, str):
        # The end sorts before every character, and a NUL in the text after the end.
        return b"\2" + value.encode().replace(b"\0", b"\0\xff") + b"\0\0"
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return b"\1" + _write_number(value)
    raise UnroutableError(f"{source}: found {field} {value!r}, expected a number or a text")


def _write_number(value: float) -> bytes:
    """Write a double's bits so that they sort, and what a whole number is beyond its double."""
    near = float(value) + 0.0  # -0.0 is 0.0
    bits = int.from_bytes(struct.pack(">d", near))
    ordered = bits ^ _ALL if bits & _NEGATIVE else bits | _NEGATIVE
    beyond = value - int(near) if isinstance(value, int) else 0
    return ordered.to_bytes(8) + (beyond + _MIDDLE).to_bytes(2)
