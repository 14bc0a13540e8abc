"""The Avro codec: encodes and decodes one record, or one event, at a time.

Values are None, bool, int, float, str, bytes, list and dict. A tuple of a branch's name and a value
chooses the branch of a union, as in fastavro. Logical types are not interpreted: a
timestamp is its whole number and a decimal is its bytes, so that nothing is rounded. Payloads are
not trusted: `_readers.py` lists what is rejected, and docs/adr/0001-own-avro-codec.md
says why no library is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.errors import TrailingBytesError
from penstock.schemas._conversion import Fitting, convert
from penstock.schemas._errors import READ_ERRORS, LocatedError, located
from penstock.schemas._readers import Payload
from penstock.schemas._resolution import Resolution
from penstock.schemas._types import AvroType, resolve
from penstock.schemas._writers import Encoding
from penstock.schemas.definition import Schema, check_schema


def compile_encoder(schema: Schema) -> Callable[[Any], bytes]:
    """Check a schema and return a function that encodes many values with it.

    Raises:
        SchemaError: the schema is not valid, or not bounded.
    """
    write = Encoding().compile(_resolve_checked(schema))

    def encode_value(value: Any) -> bytes:
        out = bytearray()
        try:
            write(value, out)
        except LocatedError as error:
            error.leave()
        return bytes(out)

    return encode_value


def compile_decoder(writer: Schema, reader: Schema | None = None) -> Callable[[bytes], Any]:
    """Check the writer and reader schema and return a function that decodes many payloads.

    Without a reader schema, the writer schema is used for both.

    Raises:
        SchemaError: a schema is not valid or not bounded, or the two contradict each other.
    """
    return _compile(Resolution(), writer, reader)


def compile_event_decoder(
    writer: Schema, reader: Schema | None = None
) -> Callable[[bytes], dict[str, Any]]:
    """Return a function that decodes many payloads to events; raises as `compile_decoder` does.

    An event has the JSON names of its fields and no null fields, because a record does not
    distinguish a null field from a missing one. Null items of a list are kept.
    """
    return _compile(Resolution(events=True), writer, reader)


def _compile(
    resolution: Resolution, writer: Schema, reader: Schema | None
) -> Callable[[bytes], Any]:
    written = _resolve_checked(writer)
    if reader is None or reader == writer:
        read = resolution.compile(written, written)
    else:
        read = resolution.compile(written, _resolve_checked(reader))

    def decode_payload(payload: bytes) -> Any:
        try:
            value, end = read(Payload(payload), 0)
        except READ_ERRORS as error:
            located(error).leave()
        if end != len(payload):
            raise TrailingBytesError(
                f"found {len(payload) - end:,} bytes after the value, which ends at byte {end}"
            )
        return value

    return decode_payload


def encode(value: Any, schema: Schema) -> bytes:
    """Encode one value with its schema; to encode many values, use `compile_encoder`.

    Raises:
        UnencodableValueError: the schema cannot carry the value; the message names the field.
        SchemaError: see `compile_encoder`.
    """
    return compile_encoder(schema)(value)


def decode(payload: bytes, writer: Schema, reader: Schema | None = None) -> Any:
    """Decode one payload with its writer schema into the reader schema, if one is given.

    Raises:
        PayloadError: the bytes are not a value of the writer schema, a number would be rounded, or
            they become too many values.
        SchemaError: see `compile_decoder`.
    """
    return compile_decoder(writer, reader)(payload)


def decode_event(payload: bytes, writer: Schema, reader: Schema | None = None) -> dict[str, Any]:
    """Decode one payload to an event; to decode many payloads, use `compile_event_decoder`.

    Raises:
        PayloadError: see `decode`.
        SchemaError: see `compile_decoder`.
    """
    return compile_event_decoder(writer, reader)(payload)


def to_record(
    event: Mapping[str, Any], schema: Schema, defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Convert an event to a record that `encode` takes with the schema.

    A field that the event lacks comes from `defaults` (the base fields) or is null; the event's
    own fields take precedence.

    Raises:
        EventValueError: a value is not of its field's type, or would be rounded.
        EventLimitError: the record has too many values.
    """
    record: dict[str, Any] = convert({**(defaults or {}), **event}, resolve(schema), "")
    return record


def compile_fitter(
    schema: Schema,
) -> Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]:
    """Return a function that converts many events, each with base fields, to records.

    For a schema that was registered first: a field that the schema lacks is rejected, a missing
    field takes the schema's default or is null, bytes are strings in base64, and a base field is
    used only if the schema has a field that holds it. The function raises as `to_record` does.
    """
    return Fitting(resolve(schema)).fit


def select_base(schema: Schema, base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the base fields that `compile_fitter` uses for a schema."""
    return Fitting(resolve(schema)).hold(base)


def _resolve_checked(schema: Schema) -> AvroType:
    check_schema(schema)
    return resolve(schema)
