"""The versions that one batch is decoded with, of schemas that contradict each other."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.framing import SchemaKey
from penstock.registry import Registries
from penstock.registry.memory import MemoryRegistry
from penstock.spark.query.api import _choose_versions
from tests.stubs.registries import UNKNOWN


def _schema(name: str, *fields: str) -> dict[str, Any]:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": each, "type": ["null", "long"], "default": None} for each in fields],
    }


@pytest.mark.parametrize(
    ("counts", "chosen"),
    [
        ((1, 1, 3), ("pump", 1)),
        ((2, 2, 3), ("meter", 2)),
        ((1, 0, 1), ("meter", 1)),
    ],
    ids=["most records", "most records of all versions", "the first name"],
)
def test_the_schema_with_the_most_records_is_chosen(
    counts: tuple[int, ...], chosen: tuple[str, int]
) -> None:
    registry = MemoryRegistry()
    versions = [
        registry.register("meter", _schema("meter", "a")).version,
        registry.register("meter", _schema("meter", "a", "b")).version,
        registry.register("pump", _schema("pump", "a")).version,
    ]
    given = {each.key: count for each, count in zip(versions, counts, strict=True) if count}
    for order in (dict, lambda items: dict(reversed(items.items()))):
        found, refused = _choose_versions(
            Registries([registry]), {**order(given), SchemaKey.parse(str(UNKNOWN)): 9}
        )

        assert ({each.name for each in found}, len(found)) == ({chosen[0]}, chosen[1])
        left_out = {str(each.key) for each in versions if each.name != chosen[0]} & {
            *map(str, given)
        }
        assert {str(key): str(why.reason) for key, why in refused.items()} == {
            **dict.fromkeys(left_out, "schema-conflict"),
            str(UNKNOWN): "unknown-schema",
        }
