"""Rows of a shape, made from events and tombstones."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from penstock.errors import EventValueError, UnroutableError
from penstock.records.record import Record
from penstock.records.shape import ADDED, DELETED, ORDER, Mode, RowShape
from penstock.schemas import TIME_MEANING, read_time

_SHOWN_CHARACTERS: Final = 40
_MILLISECOND: Final = 1_000_000  # in nanoseconds
_MAX_KEY_BYTES: Final = 2_048  # of DynamoDB's partition keys
_MAX_SORT_BYTES: Final = 1_024
_PART: Final = "a string or a whole number"  # of a key
_ALL: Final = 2**64 - 1
_NEGATIVE: Final = 2**63
_MIDDLE: Final = 2**15  # a whole number of 64 bits differs from its double by at most 1,024
_LONG_SIZE: Final = 8
_INT_SIZE: Final = 4
_PLACE_SIZE: Final = _LONG_SIZE + _INT_SIZE  # the offset and the partition


def make_row(  # noqa: PLR0913 - the parts of a row
    shape: RowShape,
    event: Any,
    record: Record,
    schema_number: int,
    schema_id: str,
    *,
    key_fields: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the row of an event that was decoded from a record, deleted if the event says so.

    `key_fields` are the fields of the record's key, if the key fields of the shape are there.

    Raises:
        UnroutableError: the event is not an object, or a field that the shape needs is missing
            or of another type.
    """
    if not isinstance(event, Mapping):
        raise UnroutableError(f"found {type(event).__name__}, expected an event")
    source = record.source
    key = _key(shape, event, record, key_fields)
    order = {} if shape.mode is Mode.APPEND else {ORDER: _order(shape.order, event, record)}
    ours = (*key, *((ORDER, DELETED) if order else ()))
    if shape.deleted_when and shape.deleted_when.fits(event):
        return _deleted(key, record, order)
    event = _hide(event, (*ADDED, *ours), key)
    return {
        **event,
        **key,
        "_topic": source.topic,
        "_source": str(source),
        "_schema": schema_number,
        "_schemaId": schema_id,
        **order,
    }


def _hide(event: Mapping[str, Any], names: Sequence[str], key: Mapping[str, str]) -> Any:
    """Return the event with fields that have the names of attributes, in a map of their own."""
    hidden = {
        name: event[name]
        for name in names
        if name in event and (name not in key or event[name] != key[name])
    }
    if not hidden:
        return event
    return {name: event[name] for name in event if name not in hidden} | {"_event": hidden}


def make_deletion(
    shape: RowShape, record: Record, key_fields: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the row that marks a row as deleted by a tombstone.

    Without the fields of the record's key, the key is the row's key as a string.

    Raises:
        UnroutableError: the record's key is missing, empty or not UTF-8, or lacks a field.
    """
    if key_fields is None:
        key = {shape.key_attribute: _read_text(record)}
    else:
        key = _key(shape, {}, record, key_fields)
    return _deleted(key, record, {ORDER: _order((), {}, record)})


def _deleted(key: Mapping[str, str], record: Record, order: Mapping[str, str]) -> dict[str, Any]:
    source = record.source
    return {**key, "_topic": source.topic, "_source": str(source), **order, DELETED: True}


def _read_text(record: Record) -> str:
    try:
        key = (record.key or b"").decode()
    except UnicodeDecodeError:
        key = ""
    if not key:
        raise UnroutableError(f"found a tombstone with key {_show(record.key)}, expected a string")
    return key


def _key(
    shape: RowShape, event: Mapping[str, Any], record: Record, key_fields: Mapping[str, Any] | None
) -> dict[str, str]:
    """Return the table's key attributes."""
    fields = event if key_fields is None else key_fields
    key = {shape.key_attribute: _join(fields, shape.key)}
    if shape.sort:
        key[str(shape.sort_name)] = _join(fields, shape.sort)
    elif shape.sort_name is not None:
        key[shape.sort_name] = _place(shape, event, record)
    return key


def find_row_key(shape: RowShape, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the key attributes of the row that has these values in its key and sort fields.

    Raises:
        UnroutableError: a value is missing, empty or of another type, or a key is longer than a
            table's keys.
    """
    key = {shape.key_attribute: _join(values, shape.key)}
    if shape.sort_name is not None:
        key[shape.sort_name] = _join(values, shape.sort)
    limits = (_MAX_KEY_BYTES, _MAX_SORT_BYTES)
    for (name, text), most_bytes in zip(key.items(), limits, strict=False):
        if (size := len(text.encode())) > most_bytes:
            raise UnroutableError(
                f"found {name} of {size} bytes, expected a key of at most {most_bytes}"
            )
    return key


def find_record_id(row: Mapping[str, Any]) -> str:
    """Return the id of the record that made an upserted row."""
    written = row[ORDER][-2 * (_LONG_SIZE + _PLACE_SIZE) : -2 * _PLACE_SIZE]
    return f"{row['_source']}/{int(written, 16) - _NEGATIVE}"


def check_key(shape: RowShape, event: Mapping[str, Any]) -> None:
    """Check that an event can become a row.

    The event has the values of its schema: a whole number that was widened to a double is 7.0 here,
    which cannot be a key.

    Raises:
        EventValueError: a field of the key, sort key or order, or the event time, is missing, empty
            or of another type, or a key is longer than a table's keys.
    """
    _check_parts(event, shape.key, _MAX_KEY_BYTES)
    _check_parts(event, shape.sort, _MAX_SORT_BYTES)
    for field in shape.order:
        if _find_ordered(value := event.get(field)) is None:
            raise EventValueError(f"{field}: found {_show_unordered(value)}", path=field)
    time = event.get(shape.event_time) if shape.event_time else 0
    if shape.sort_name and not shape.sort and read_time(time) is None:
        raise EventValueError(
            f"{shape.event_time}: found {_show(time)}, expected {TIME_MEANING}",
            path=shape.event_time or "",
        )


def _check_parts(event: Mapping[str, Any], fields: Sequence[str], most_bytes: int) -> None:
    """Check the values of the fields of one key."""
    for field in fields:
        value = event.get(field)
        if _write_part(value):
            continue
        if value is None:
            problem = f"found no value, expected {_PART}, which every event must have"
        elif value == "":
            problem = "found an empty string, expected a key"
        else:
            problem = f"found {_show(value)}, expected {_PART}"
        raise EventValueError(f"{field}: {problem}", path=field)
    size = len(_join_fields(event, fields).encode())
    if size > most_bytes:
        raise EventValueError(
            f"{', '.join(fields)}: found a key of {size} bytes, expected at most {most_bytes}",
            path=fields[0],
        )


def write_key(shape: RowShape, event: Mapping[str, Any]) -> bytes:
    """Return the Kafka key of an event, which sends all records of a row to one partition."""
    return _join_fields(event, shape.key).encode()


def _place(shape: RowShape, event: Mapping[str, Any], record: Record) -> str:
    """Return a time and the place of a record: a recreated topic repeats places, not times."""
    source = record.source
    place = f"{source.topic}-{source.partition}-{source.offset}"
    if shape.event_time is None:
        return f"{record.timestamp_ms:013d}-{place}"
    time = event.get(shape.event_time)
    nanoseconds = read_time(time)
    if nanoseconds is None:
        raise UnroutableError(f"found {shape.event_time} {_show(time)}, expected {TIME_MEANING}")
    milliseconds, rest = divmod(nanoseconds, _MILLISECOND)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""  # "-" sorts before "."
    return f"{milliseconds:013d}{fraction}-{place}"


def _join(event: Mapping[str, Any], fields: Sequence[str]) -> str:
    """Join the values of the key fields."""
    if len(fields) == 1 and type(lone := event.get(fields[0])) is str and lone:
        return lone
    for field in fields:
        if not _write_part(value := event.get(field)):
            raise UnroutableError(f"found {field} {_show(value)}, expected {_PART}")
    return _join_fields(event, fields)


def _join_fields(event: Mapping[str, Any], fields: Sequence[str]) -> str:
    return "/".join(_escape(_write_part(event[field]), fields) for field in fields)


def _write_part(value: Any) -> str:
    """Return the text of a key field, a string or a whole number; empty if it is neither."""
    if type(value) is str:
        return value
    if type(value) is Decimal and value.is_finite():
        whole = value.to_integral_value()
        return f"{whole:f}" if whole == value else ""
    return str(value) if type(value) is int else ""


def _escape(text: str, fields: Sequence[str]) -> str:
    """Escape `/` and `%` if there are several fields, so that two keys never join to one text."""
    return text if len(fields) == 1 else text.replace("%", "%25").replace("/", "%2F")


def _order(fields: Sequence[str], event: Mapping[str, Any], record: Record) -> str:
    """Return text that is greater for a newer version, in any order of arrival.

    The fields decide in order, then Kafka's timestamp, the offset and the partition. The timestamp
    comes before the offset because a key moves to another partition when partitions are added. A
    record that is delivered again gets the same text.
    """
    source = record.source
    parts = [_write_ordered(event.get(field), field) for field in fields]
    written = (record.timestamp_ms + _NEGATIVE).to_bytes(_LONG_SIZE)  # negative ones sort first
    place = (source.offset.to_bytes(_LONG_SIZE), source.partition.to_bytes(_INT_SIZE))
    return b"".join([*parts, written, *place]).hex()


def _write_ordered(value: Any, field: str) -> bytes:
    """Encode a value so that bytes sort as the values do, numbers before strings."""
    ordered = _find_ordered(value)
    if ordered is None:
        raise UnroutableError(f"found {field} {_show_unordered(value)}")
    if isinstance(ordered, str):
        # The end mark sorts before every character, and an escaped NUL after the end mark.
        return b"\2" + ordered.encode().replace(b"\0", b"\0\xff") + b"\0\0"
    return b"\1" + _write_number(ordered)


def _find_ordered(value: Any) -> str | float | None:
    """Return the string or finite number that orders the versions of a row, or None.

    A decimal is the whole number of 64 bits or the double that equals it.
    """
    if isinstance(value, Decimal):
        return _find_number(value) if value.is_finite() else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str) else None


def _find_number(value: Decimal) -> float | None:
    if -_NEGATIVE <= value < _NEGATIVE and value == value.to_integral_value():
        return int(value)
    near = float(value)
    return near if near == value else None


def _show_unordered(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"{value}, expected a decimal that a long or a double holds with all its digits"
    return f"{_show(value)}, expected a number or a string"


def _write_number(value: float) -> bytes:
    """Encode a double as sortable bits, then the difference of a whole number to its double."""
    near = float(value) + 0.0  # -0.0 is 0.0
    bits = int.from_bytes(struct.pack(">d", near))
    ordered = bits ^ _ALL if bits & _NEGATIVE else bits | _NEGATIVE
    beyond = value - int(near) if isinstance(value, int) else 0
    return ordered.to_bytes(8) + (beyond + _MIDDLE).to_bytes(2)


def _show(value: Any) -> str:
    """Return a value for a message: a short text of a scalar, and only the type of others."""
    if isinstance(value, Mapping | list):
        return f"of type {type(value).__name__}"
    text = "null" if value is None else str(value) if type(value) is Decimal else repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
