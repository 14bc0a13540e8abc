"""A batch looks up its unknown schema versions, up to a number of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from unittest.mock import Mock

import pytest

from penstock.errors import SchemaNotFoundError
from penstock.framing import FrameKind, SchemaKey
from penstock.registry import SchemaVersion, VersionStatus
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.versions import VersionLookup
from penstock.spark.sinks.table import Table, TableGroup
from penstock.spark.state.schema_ledger import Lookups
from penstock.tables import BatchId

_SCHEMA = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
_GROUP = TableGroup("", {"": Table((Mock(),))})


@dataclass
class _Registries:
    """Registries that have one version; they count what they are asked."""

    version: SchemaVersion
    asked: list[SchemaKey] = field(default_factory=list)

    def find(self, key):
        self.asked.append(key)
        if key != self.version.key:
            raise SchemaNotFoundError(f"no schema {key}")
        return self.version


def _key(number):
    return SchemaKey(FrameKind.GLUE, number.to_bytes(16))


def _version(key):
    return SchemaVersion(key, "sensor", 1, VersionStatus.AVAILABLE, _SCHEMA, None)


@pytest.mark.parametrize(("asks_all", "asked"), [(False, 100), (True, 500)])
def test_a_replay_asks_for_each_id_and_a_query_for_a_hundred_unknown_ones(asks_all, asked):
    keys = [_key(number) for number in range(500)]
    registries = _Registries(_version(keys[-1]))
    lookup = VersionLookup(_GROUP, BatchContext(registries, Mock(), asks_all=asks_all), Lookups())
    batch = lookup.open(BatchId("q", 0))

    lookup.look_up(batch, lambda: keys)

    (found,) = batch.lookups
    assert len(registries.asked) == asked
    assert len(found.refused) == min(asked, 499)
    assert (len(found.versions), found.others is None) == (int(asks_all), asks_all)
