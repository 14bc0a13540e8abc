"""Random events conform to the schema that they are made for."""

from __future__ import annotations

import json
from random import Random
from typing import Any
from uuid import UUID

import pytest

from penstock.errors import SchemaError
from penstock.schemas import compile_sampler, encode, to_record

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
        {"name": "raw", "type": ["null", "bytes"]},
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
    sample, random = compile_sampler(_SCHEMA), Random(1)

    for _ in range(200):
        event = json.loads(json.dumps(sample(random)))
        assert encode(to_record(event, _SCHEMA), _SCHEMA)
        assert (event["raw"], event["nothing"]) == (None, None)
        assert isinstance(event["maybe"], float)
        assert isinstance(event["either"], str | bool)
        assert isinstance(event["temp-c"], int)
        assert UUID(event["id"])


def test_a_seed_makes_the_same_events() -> None:
    sample = compile_sampler(_SCHEMA)

    assert sample(Random(7)) == sample(Random(7)) != sample(Random(8))


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("bytes", "place.raw: found bytes, which no JSON event can hold"),
        (
            {"type": "fixed", "name": "f", "size": 2},
            r"place.raw: found fixed f\(2\), which no JSON",
        ),
        ({"type": "array", "items": "bytes"}, r"place.raw\[\]: found bytes"),
        (["bytes", {"type": "map", "values": "bytes"}], r"place.raw\{\}: found bytes"),
    ],
)
def test_a_required_value_that_json_cannot_hold_is_an_error(type_: Any, message: str) -> None:
    place = {"type": "record", "name": "place", "fields": [{"name": "raw", "type": type_}]}
    schema = {"type": "record", "name": "event", "fields": [{"name": "place", "type": place}]}

    with pytest.raises(SchemaError, match=message):
        compile_sampler(schema)
