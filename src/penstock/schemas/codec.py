"""Values to Avro bytes and back, one record at a time.

Values are Python's own: None, bool, int, float, str, bytes, list and dict. Logical types are not
interpreted: a timestamp is its whole number, a decimal its bytes, so that nothing is rounded.

The bytes are trusted with nothing: see `_readers.py` for what is refused, and
docs/adr/20261121-bounded-avro-decoding.md for why this is not left to a library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.errors import TrailingBytesError
from penstock.schemas._encoding import Encoding
from penstock.schemas._located import READ_ERRORS, LocatedError, located
from penstock.schemas._resolution import Resolution
from penstock.schemas._types import AvroType, resolve
from penstock.schemas.definition import Schema, check_schema


def compile_encoder(schema: Schema) -> Callable[[Any], bytes]:
    """Check a schema and give the function that encodes its values, for a hot path.

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
    """Check one or two schemas and give the function that decodes payloads, for a hot path.

    Raises:
        SchemaError: a schema is not valid or not bounded, or the two contradict each other.
    """
    written = _resolve_checked(writer)
    read = Resolution().compile(
        written, _resolve_checked(reader) if reader is not None else written
    )

    def decode_payload(payload: bytes) -> Any:
        try:
            value, end = read(payload, 0)
        except READ_ERRORS as error:
            located(error).leave()
        if end != len(payload):
            raise TrailingBytesError(
                f"found {len(payload) - end:,} bytes after the value, which ends at byte {end}"
            )
        return value

    return decode_payload


def encode(value: Any, schema: Schema) -> bytes:
    """Encode one value exactly as its schema says; for many, compile the schema once.

    Raises:
        UnencodableValueError: the schema cannot carry the value; names the field.
        SchemaError: as of `compile_encoder`.
    """
    return compile_encoder(schema)(value)


def decode(payload: bytes, writer: Schema, reader: Schema | None = None) -> Any:
    """Decode one payload with its writer's schema, into the reader's where one is given.

    Raises:
        PayloadError: the bytes are no value of the writer's schema, or reading would round one.
        SchemaError: as of `compile_decoder`.
    """
    return compile_decoder(writer, reader)(payload)


def _resolve_checked(schema: Schema) -> AvroType:
    check_schema(schema)
    return resolve(schema)
