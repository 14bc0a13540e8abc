"""Avro schemas as plain values, and the bytes of their records: pure functions, no network."""

from __future__ import annotations

from penstock.schemas.canonical import canonical_form
from penstock.schemas.codec import decode, encode
from penstock.schemas.compatibility import Incompatibility, check_compatibility
from penstock.schemas.definition import Schema, check_schema, load_schema
from penstock.schemas.diff import SchemaChange, SchemaDiff, diff_schemas
from penstock.schemas.merge import merge_schemas
from penstock.schemas.modes import Compatibility, check_mode

__all__ = [
    "Compatibility",
    "Incompatibility",
    "Schema",
    "SchemaChange",
    "SchemaDiff",
    "canonical_form",
    "check_compatibility",
    "check_mode",
    "check_schema",
    "decode",
    "diff_schemas",
    "encode",
    "load_schema",
    "merge_schemas",
]
