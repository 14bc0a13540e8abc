"""A job that lost its lease does nothing more: not before a batch, and not between its writes."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock, Mock

import pytest

from penstock.consuming import Written
from penstock.errors import CheckpointInUseError
from penstock.registry import Registries
from penstock.spark.query import record_batches
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.record_batches import RecordBatches
from penstock.spark.query.stream import StreamQuery
from penstock.spark.rows import while_held
from penstock.spark.sinks.dynamodb import DynamoDbTable
from penstock.spark.sinks.table import Route, Table, TableGroup
from penstock.spark.state.schema_ledger import Lookups
from penstock.tables import BatchId
from tests.stubs.registries import CountedRegistry

_NOTHING: Any = None


class _Lease:
    """A lease that may be lost."""

    fence = 1
    is_held = True

    def check(self) -> None:
        """Raise once it is lost."""
        if not self.is_held:
            raise CheckpointInUseError("lost")


def test_a_job_that_lost_its_lease_takes_no_batch() -> None:
    lease, watch, batches = _Lease(), MagicMock(), MagicMock()
    lease.is_held = False
    query = StreamQuery(
        stream=Mock(), checkpoint="s3://c", registries=Registries([]), tables=[Mock()],
        errors=Mock(), lease=lease,
    )  # fmt: skip

    with pytest.raises(CheckpointInUseError):
        query._write_batch(MagicMock(), BatchId("q", 0), batches, watch)

    assert (watch.mock_calls, batches.mock_calls) == ([], [])


def test_a_driver_that_lost_its_lease_in_a_write_looks_nothing_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lease, registry, lookups = _Lease(), CountedRegistry(), Lookups()
    schema = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "string"}]}
    version = registry.register("r", schema).version
    registry.asked.clear()

    def write(*_: object) -> dict[tuple[str, str], Written]:
        lease.is_held = False  # another driver took over while this one stalled
        done = Written(records=1)
        done.note_waiting(version.key)
        return {("a", ""): done}

    monkeypatch.setattr(record_batches, "write_records", write)
    monkeypatch.setattr(record_batches, "select_records", lambda records: records)
    monkeypatch.setattr(record_batches, "F", MagicMock())  # it needs a session
    table = Table((DynamoDbTable("a", _NOTHING),), Route(topics=("a",)), "a")
    context = BatchContext(Registries([registry]), _NOTHING, lease)
    batches = RecordBatches({"a": TableGroup("a", {"": table})}, {"a": lookups}, context)

    with pytest.raises(CheckpointInUseError):
        batches.write_batch(MagicMock(), BatchId("q", 0), {"a": ["a"]})

    assert (registry.asked, lookups.lookups(0)) == ([], ())


def test_a_write_that_fails_is_not_hidden_by_the_loss_of_the_lease() -> None:
    lease = _Lease()

    with pytest.raises(OSError, match="no disk"), while_held(lease):
        lease.is_held = False
        raise OSError("no disk")
