"""Random events conform to the schema that they are made for."""

from __future__ import annotations

import json
from random import Random
from typing import Any
from uuid import UUID

from penstock.schemas import compile_fitter, compile_sampler, encode

_SCALARS = ("boolean", "int", "long", "float", "double", "string")
_SCHEMA = {
    "type": "record",
    "name": "everything",
    "fields": [
        *({"name": kind, "type": kind} for kind in _SCALARS),
        {"name": "nothing", "type": "null"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "state", "type": {"type": "enum", "name": "state", "symbols": ["on", "off"]}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "counts", "type": {"type": "map", "values": "long"}},
        {"name": "maybe", "type": ["null", "double"]},
        {"name": "raw", "type": "bytes"},
        {"name": "digest", "type": ["null", {"type": "fixed", "name": "digest", "size": 8}]},
        {"name": "either", "type": ["null", "string", "boolean", "bytes"]},
        {"name": "temp_x002d_c", "type": ["null", "int"], "jsonName": "temp-c"},
        {
            "name": "place",
            "type": {
                "type": "record",
                "name": "place",
                "fields": [{"name": "town", "type": "string"}],
            },
        },
    ],
}


def test_every_event_is_one_that_the_schema_accepts() -> None:
    sample, fit, random = compile_sampler(_SCHEMA), compile_fitter(_SCHEMA), Random(1)

    for _ in range(200):
        event = json.loads(json.dumps(sample(random)))
        record = fit(event, {})
        assert encode(record, _SCHEMA)
        assert (len(record["raw"]), len(record["digest"]), record["nothing"]) == (4, 8, None)
        assert isinstance(event["maybe"], float)
        assert isinstance(event["either"], str | bool)
        assert isinstance(event["temp-c"], int)
        assert UUID(event["id"])


def test_a_sample_of_nested_maps_is_small() -> None:
    nested: Any = "long"
    for _ in range(20):
        nested = {"type": "map", "values": nested}
    schema = {"type": "record", "name": "R", "fields": [{"name": "t", "type": nested}]}

    assert len(json.dumps(compile_sampler(schema)(Random(1)))) < 2_000


def test_a_seed_makes_the_same_events() -> None:
    sample = compile_sampler(_SCHEMA)

    assert sample(Random(7)) == sample(Random(7)) != sample(Random(8))
