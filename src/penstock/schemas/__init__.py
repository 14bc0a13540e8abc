"""Avro schemas as plain values, and the codec of their records: pure functions, no network."""

from __future__ import annotations

from penstock.schemas.codec import (
    compile_encoder,
    compile_event_decoder,
    compile_fitter,
    decode,
    decode_event,
    encode,
    select_base,
    to_record,
)
from penstock.schemas.compatibility import (
    Compatibility,
    Incompatibility,
    check_both_ways,
    check_compatibility,
    check_mode,
)
from penstock.schemas.definition import (
    Schema,
    canonical_form,
    check_schema,
    load_canonical,
    load_schema,
    measure_definition,
)
from penstock.schemas.diff import SchemaChange, SchemaDiff, diff_schemas
from penstock.schemas.events import parse_event, read_number, scan_value, write_value
from penstock.schemas.infer import TypeRules, infer_schema
from penstock.schemas.logical import Numbers, find_decimal, read_decimal
from penstock.schemas.merge import extend_at_once, extend_merge, merge_schemas
from penstock.schemas.names import avro_name, join_path
from penstock.schemas.policy import Policy, VersionSet
from penstock.schemas.references import inline_references
from penstock.schemas.required import FieldName, list_fields, list_required
from penstock.schemas.samples import compile_sampler
from penstock.schemas.times import (
    END_NANOSECONDS,
    TIME_MEANING,
    TIME_PATTERN,
    TIME_UNITS,
    Times,
    fit_event_time,
    read_time,
)

__all__ = [
    "END_NANOSECONDS",
    "TIME_MEANING",
    "TIME_PATTERN",
    "TIME_UNITS",
    "Compatibility",
    "FieldName",
    "Incompatibility",
    "Numbers",
    "Policy",
    "Schema",
    "SchemaChange",
    "SchemaDiff",
    "Times",
    "TypeRules",
    "VersionSet",
    "avro_name",
    "canonical_form",
    "check_both_ways",
    "check_compatibility",
    "check_mode",
    "check_schema",
    "compile_encoder",
    "compile_event_decoder",
    "compile_fitter",
    "compile_sampler",
    "decode",
    "decode_event",
    "diff_schemas",
    "encode",
    "extend_at_once",
    "extend_merge",
    "find_decimal",
    "fit_event_time",
    "infer_schema",
    "inline_references",
    "join_path",
    "list_fields",
    "list_required",
    "load_canonical",
    "load_schema",
    "measure_definition",
    "merge_schemas",
    "parse_event",
    "read_decimal",
    "read_number",
    "read_time",
    "scan_value",
    "select_base",
    "to_record",
    "write_value",
]
