"""The frames around payloads, which carry the key of the writer schema and the compression."""

from __future__ import annotations

from penstock.framing.decode import (
    CONFLUENT_ID,
    ENCODING,
    GLOBAL_ID,
    ID_HEADERS,
    Framing,
    decode_frame,
    encode_frame,
)
from penstock.framing.frame import Compression, CompressionRule, Frame
from penstock.framing.glue import encode_glue_frame
from penstock.framing.key import FrameKind, SchemaKey

__all__ = [
    "CONFLUENT_ID",
    "ENCODING",
    "GLOBAL_ID",
    "ID_HEADERS",
    "Compression",
    "CompressionRule",
    "Frame",
    "FrameKind",
    "Framing",
    "SchemaKey",
    "decode_frame",
    "encode_frame",
    "encode_glue_frame",
]
