"""Values to Avro bytes and back, one record at a time."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import fastavro

from penstock.errors import TrailingBytesError
from penstock.schemas.definition import Schema


def encode(value: Any, schema: Schema) -> bytes:
    """Encode the value as the schema says."""
    out = BytesIO()
    fastavro.schemaless_writer(out, schema, value)
    return out.getvalue()


def decode(payload: bytes, writer: Schema, reader: Schema | None = None) -> Any:
    """Decode the whole payload with its writer's schema, into the reader's where one is given."""
    source = BytesIO(payload)
    value = fastavro.schemaless_reader(source, writer, reader)
    if source.tell() != len(payload):
        raise TrailingBytesError(f"{len(payload) - source.tell()} bytes left")
    return value
