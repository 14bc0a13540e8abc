"""How two registries read a version: its definition, and sample records of every kind of type."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import RegistryUnavailableError
from penstock.extensions.registry_copy.comparison import (
    Comparison,
    compare_readings,
    make_payloads,
)
from penstock.registry import SchemaStore
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility, decode
from tests.stubs.registries import UNKNOWN, CountedRegistry, Reading, unavailable


def test_samples_are_read_alike_by_both_registries(reading: Reading) -> None:
    first, second = MemoryRegistry(), MemoryRegistry()
    keys = [each.register("a", reading(flow="long")).version.key for each in (first, second)]

    assert compare_readings((first, keys[0]), (second, keys[1])) == Comparison(3)


def test_another_definition_is_a_problem(reading: Reading) -> None:
    first, second = MemoryRegistry(), MemoryRegistry()
    old = first.register("a", reading(flow="long")).version.key
    new = second.register("a", reading(flow="double")).version.key

    found = compare_readings((first, old), (second, new))

    assert found == Comparison(0, problem=f"memory:// has another definition under {new}")


def test_a_version_that_one_registry_alone_refuses_is_a_problem(reading: Reading) -> None:
    store = SchemaStore()
    first, second = MemoryRegistry(), MemoryRegistry(store, compatibility=Compatibility.NONE)
    good = first.register("a", reading(flow="string")).version.key
    second.register("a", reading(flow="long"))
    refused = store.add("memory/a", '{"type": "record", "name": "Reading", "fields": []}').id
    bad = type(good).parse(refused)

    assert compare_readings((first, good), (second, UNKNOWN)).problem.startswith(
        f"memory:// does not read {UNKNOWN}: "
    )
    assert compare_readings((first, UNKNOWN), (second, bad)).note.startswith("memory:// refuses it")


def test_a_registry_that_is_down_is_no_verdict(reading: Reading) -> None:
    first, second = MemoryRegistry(), CountedRegistry()
    key = first.register("a", reading()).version.key
    second.down = unavailable

    with pytest.raises(RegistryUnavailableError):
        compare_readings((first, key), (second, key))


@pytest.mark.parametrize(
    "schema",
    [
        "string",
        {"type": "fixed", "name": "F", "size": 3},
        ["null", "bytes", {"type": "array", "items": {"type": "map", "values": "float"}}],
        {
            "type": "record",
            "name": "x.R",
            "fields": [
                {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}},
                {"name": "again", "type": ["null", "E"]},
                {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
                {"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 4}},
                {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
                {"name": "nothing", "type": "null"},
                {"name": "other", "type": {"type": "record", "name": "S", "fields": []}},
            ],
        },
    ],
    ids=["string", "fixed", "union", "record"],
)
def test_samples_are_records_of_the_schema(schema: Any) -> None:
    payloads = make_payloads(schema)

    assert len(payloads) == 3
    assert payloads == make_payloads(schema)
    for payload in payloads:
        decode(payload, schema)
