"""Rungs of the core: the cost of one event on its way in and out, without a network."""

from __future__ import annotations

import io
import struct
from functools import partial
from typing import Any
from uuid import UUID

import fastavro

from bench.ladder import Form, Result, compare, least, most, reported, time_call
from penstock.framing import SchemaKey, decode_frame, encode_glue_frame
from penstock.records import READING, base_fields
from penstock.registry import CachedRegistry, load_registry
from penstock.schemas import (
    Policy,
    Schema,
    VersionSet,
    compile_decoder,
    compile_encoder,
    infer_schema,
    merge_schemas,
    to_record,
)

# 20 fields like those of a sensor: text, whole numbers, measurements, flags.
_EVENT: dict[str, Any] = {
    f"{kind}{i}": value
    for i in range(5)
    for kind, value in (("status", "running"), ("count", 1_000 + i), ("load", 0.5), ("on", True))
}
_OWN = {"deviceId": "000001", "timestamp": 1_795_239_498_031}
_SCHEMA = infer_schema(_EVENT, "sensor", base=base_fields(READING))
_RECORD = to_record(_EVENT, _SCHEMA, _OWN)
_PAYLOAD = compile_encoder(_SCHEMA)(_RECORD)
_PARSED = fastavro.parse_schema(_SCHEMA)


def _look_up(form: Form) -> Result:
    registry = CachedRegistry(load_registry("memory://"))
    registry.register("sensor", _SCHEMA)
    return time_call(lambda: registry.register("sensor", _SCHEMA), form.calls)


def _decode(form: Form) -> Result:
    decode = compile_decoder(_SCHEMA)
    return compare(
        lambda: decode(_PAYLOAD),
        lambda: fastavro.schemaless_reader(io.BytesIO(_PAYLOAD), _PARSED, None),
        form.calls,
    )


def _encode(form: Form) -> Result:
    def bare() -> bytes:
        buffer = io.BytesIO()
        fastavro.schemaless_writer(buffer, _PARSED, _RECORD)
        return buffer.getvalue()

    encode = compile_encoder(_SCHEMA)
    return compare(lambda: encode(_RECORD), bare, form.calls)


def _open_frame(form: Form) -> Result:
    value = encode_glue_frame(SchemaKey.parse("d3e21a3b-f828-4ef7-a864-ea05cba14f2c"), _PAYLOAD)

    def by_hand() -> tuple[str, bytes]:
        struct.unpack_from("BB", value)
        return str(UUID(bytes=value[2:18])), value[18:]

    return compare(lambda: decode_frame(value), by_hand, form.calls)


def _infer(form: Form) -> Result:
    known = _SCHEMA
    return time_call(
        lambda: infer_schema(_EVENT, "sensor", known, base_fields(READING)), form.calls
    )


def _choose(policy: Policy, form: Form) -> Result:
    """Choose a schema among 15 versions, with one version set or a new one for each event."""
    versions: list[Schema] = []
    names = list(_EVENT)
    for size in range(6, 21):
        event = {name: _EVENT[name] for name in names[:size]}
        known = merge_schemas(versions) if versions else None
        versions.append(infer_schema(event, "sensor", known, base_fields(READING)))
    kept = VersionSet(versions)
    inferred = infer_schema(_EVENT, "sensor", kept.merged, base_fields(READING))
    return compare(
        lambda: kept.choose(inferred, policy, 100),
        # One merge to infer with, and one to choose with.
        lambda: (VersionSet(versions), VersionSet(versions).choose(inferred, policy, 100)),
        max(1, form.calls // 200),
    )


CORE = (
    most("look-up", "an inferred schema of 20 fields to its registered id, warm", 20, _look_up),
    least("decode", "our decode of 20 fields, bounded and exact, against fastavro", 0.9, _decode),
    least("encode", "our encode of 20 fields, exact, against fastavro", 0.9, _encode),
    least(
        "open-frame",
        "`decode_frame` of a plain Glue frame against the same three reads by hand",
        0.5,
        _open_frame,
    ),
    reported("infer", "the schema of an event of 20 fields, the merge of versions known", _infer),
    *(
        least(
            f"choose-{policy}",
            f"the schema for an event among 15 versions by the policy {policy}: versions that are"
            " kept, against versions worked out for each event",
            3,
            partial(_choose, policy),
        )
        for policy in (Policy.EXACT, Policy.GROW)
    ),
)
