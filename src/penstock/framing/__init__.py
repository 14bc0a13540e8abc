"""The frames around payloads, which carry the key of the writer schema and the compression."""

from __future__ import annotations

from penstock.framing.decode import Framing, decode_frame, encode_frame, read_schema_key
from penstock.framing.frame import Compression, CompressionRule, Frame
from penstock.framing.glue import decode_glue_frame, encode_glue_frame, read_glue_key
from penstock.framing.key import FrameKind, SchemaKey

__all__ = [
    "Compression",
    "CompressionRule",
    "Frame",
    "FrameKind",
    "Framing",
    "SchemaKey",
    "decode_frame",
    "decode_glue_frame",
    "encode_frame",
    "encode_glue_frame",
    "read_glue_key",
    "read_schema_key",
]
