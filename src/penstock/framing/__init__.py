"""The bytes around a record's payload: which schema wrote it, and whether it is compressed."""

from __future__ import annotations

from penstock.framing.apicurio import decode_apicurio_frame
from penstock.framing.confluent import decode_confluent_frame, decode_confluent_header
from penstock.framing.decode import decode_frame
from penstock.framing.frame import Compression, Frame, FrameKind, InflateLimits
from penstock.framing.glue import decode_glue_frame, encode_glue_frame

__all__ = [
    "Compression",
    "Frame",
    "FrameKind",
    "InflateLimits",
    "decode_apicurio_frame",
    "decode_confluent_frame",
    "decode_confluent_header",
    "decode_frame",
    "decode_glue_frame",
    "encode_glue_frame",
]
