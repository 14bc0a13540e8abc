"""The fields of Kafka keys, for rows whose key is in the record's key and not in the event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from penstock.errors import FramingError, PayloadError, UnroutableError
from penstock.framing import Framing, SchemaKey
from penstock.records.record import Record
from penstock.records.shape import KeyFormat, RowShape

# Finds the function from payload to value for the schema of an Avro key.
FindReader = Callable[[SchemaKey], Callable[[bytes], Any]]

_SIZES: Final = {KeyFormat.INT: 4, KeyFormat.LONG: 8}  # as Kafka's serialisers write them


def read_key(
    shape: RowShape, record: Record, framing: Framing, find_reader: FindReader
) -> Mapping[str, Any] | None:
    """Return the fields of a record's key; None if the shape's key fields are in the event.

    A key that is no record is the value of the shape's one key field.

    Raises:
        UnroutableError: the key is missing or cannot be decoded.
        PenstockError: the schema of an Avro key cannot be used, or not now; see `find_reader`.
    """
    if shape.key_format is None:
        return None
    value = decode_key(shape.key_format, record, framing, find_reader)
    return value if isinstance(value, Mapping) else {shape.key[0]: value}


def decode_key(
    key_format: KeyFormat, record: Record, framing: Framing, find_reader: FindReader
) -> Any:
    """Return the value of a record's key.

    Raises:
        UnroutableError, PenstockError: see `read_key`.
    """
    if record.key is None:
        raise UnroutableError(f"found no key, expected {key_format}")
    try:
        return _decode(key_format, record.key, record, framing, find_reader)
    except (FramingError, PayloadError, ValueError) as error:
        raise UnroutableError(f"the key is not of the format {key_format}: {error}") from error


def _decode(
    key_format: KeyFormat,
    key: bytes,
    record: Record,
    framing: Framing,
    find_reader: FindReader,
) -> Any:
    if key_format is KeyFormat.STRING:
        return key.decode()
    if key_format is KeyFormat.AVRO:
        frame = framing.decode_key(key, record.headers)
        return find_reader(frame.key)(frame.payload) if frame is not None else None
    if len(key) != _SIZES[key_format]:
        raise ValueError(f"found {len(key)} bytes, expected {_SIZES[key_format]}")
    return int.from_bytes(key, signed=True)
