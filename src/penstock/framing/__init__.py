"""The frames around payloads, which carry the key of the writer schema and the compression."""

from __future__ import annotations

from penstock.framing.apicurio import decode_apicurio_frame, encode_apicurio_frame
from penstock.framing.confluent import (
    decode_confluent_frame,
    decode_confluent_header,
    encode_confluent_frame,
)
from penstock.framing.decode import decode_frame, encode_frame, read_schema_key
from penstock.framing.frame import Compression, Frame, InflateLimits
from penstock.framing.glue import decode_glue_frame, encode_glue_frame, read_glue_key
from penstock.framing.key import FrameKind, SchemaKey

__all__ = [
    "Compression",
    "Frame",
    "FrameKind",
    "InflateLimits",
    "SchemaKey",
    "decode_apicurio_frame",
    "decode_confluent_frame",
    "decode_confluent_header",
    "decode_frame",
    "decode_glue_frame",
    "encode_apicurio_frame",
    "encode_confluent_frame",
    "encode_frame",
    "encode_glue_frame",
    "read_glue_key",
    "read_schema_key",
]
