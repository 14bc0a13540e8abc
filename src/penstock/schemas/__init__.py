"""Avro schemas as plain values, and the bytes of their records: pure functions, no network."""

from __future__ import annotations

from penstock.schemas.codec import decode, encode
from penstock.schemas.definition import Schema, check_schema, load_schema

__all__ = ["Schema", "check_schema", "decode", "encode", "load_schema"]
