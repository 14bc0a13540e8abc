"""Rungs of the core: the cost of one event on its way in and out, without a network."""

from __future__ import annotations

import io
import struct
from functools import partial
from typing import Any
from uuid import UUID

import fastavro

from bench.ladder import Result, Rung, compare, time_call
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


def _look_up(count: int) -> Result:
    registry = CachedRegistry(load_registry("memory://"))
    registry.register("sensor", _SCHEMA)
    return time_call(lambda: registry.register("sensor", _SCHEMA), count)


def _decode(count: int) -> Result:
    decode = compile_decoder(_SCHEMA)
    return compare(
        lambda: decode(_PAYLOAD),
        lambda: fastavro.schemaless_reader(io.BytesIO(_PAYLOAD), _PARSED, None),
        count,
    )


def _encode(count: int) -> Result:
    def bare() -> bytes:
        buffer = io.BytesIO()
        fastavro.schemaless_writer(buffer, _PARSED, _RECORD)
        return buffer.getvalue()

    encode = compile_encoder(_SCHEMA)
    return compare(lambda: encode(_RECORD), bare, count)


def _open_frame(count: int) -> Result:
    value = encode_glue_frame(SchemaKey.parse("d3e21a3b-f828-4ef7-a864-ea05cba14f2c"), _PAYLOAD)

    def by_hand() -> tuple[str, bytes]:
        struct.unpack_from("BB", value)
        return str(UUID(bytes=value[2:18])), value[18:]

    return compare(lambda: decode_frame(value), by_hand, count)


def _infer(count: int) -> Result:
    known = _SCHEMA
    return time_call(lambda: infer_schema(_EVENT, "sensor", known, base_fields(READING)), count)


def _choose(policy: Policy, count: int) -> Result:
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
        max(10, count // 100),
    )


CORE = (
    Rung(
        "look-up",
        "an inferred schema of 20 fields to its registered id, warm",
        "under 20 microseconds",
        lambda figure: figure < 20,
        _look_up,
    ),
    Rung(
        "decode",
        "our decode of 20 fields, bounded and exact, against bare fastavro",
        "at least 0.9 times",
        lambda figure: figure >= 0.9,
        _decode,
    ),
    Rung(
        "encode",
        "our encode of 20 fields, exact, against bare fastavro",
        "at least 0.9 times",
        lambda figure: figure >= 0.9,
        _encode,
    ),
    Rung(
        "open-frame",
        "decode_frame of a plain Glue frame against the same three reads by hand",
        "at least 0.5 times",
        lambda figure: figure >= 0.5,
        _open_frame,
    ),
    Rung(
        "infer",
        "the schema of an event of 20 fields, the merge of all versions known",
        "reported",
        lambda figure: figure > 0,
        _infer,
    ),
    *(
        Rung(
            f"choose-{policy}",
            f"the schema for an event among 15 versions, policy {policy}, the versions kept",
            "at least 3 times as fast as working them out for each event",
            lambda figure: figure >= 3,
            partial(_choose, policy),
        )
        for policy in (Policy.EXACT, Policy.GROW)
    ),
)
