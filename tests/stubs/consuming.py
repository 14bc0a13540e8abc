"""A consumer whose registry and tables are in memory and fail as they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.consuming import Consumed, Consumer
from penstock.errors import PenstockError, SinkRefusedError
from penstock.framing import encode_glue_frame
from penstock.records import FailedRecord, Record, RowShape, Source
from penstock.registry import Registries
from penstock.schemas import Schema, encode, infer_schema, to_record
from tests.stubs.readings import BASE_FIELDS
from tests.stubs.registries import CountedRegistry

OWN = {"deviceId": "d-1", "timestamp": 1795234015788}


@dataclass
class FakeTable:
    """A table of readings in memory that refuses what it is told to."""

    shape: RowShape = field(default_factory=RowShape)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    refuse: Callable[[Mapping[str, Any]], SinkRefusedError | None] = lambda _: None
    down: PenstockError | None = None

    def write(self, items: Iterable[Mapping[str, Any]]) -> dict[int, SinkRefusedError]:
        """Take what is not refused, one row at a time."""
        if self.down:
            raise self.down
        refused = {}
        for place, item in enumerate(items):
            if error := self.refuse(item):
                refused[place] = error
            else:
                self.rows[item["_source"]] = dict(item)
        return refused


@dataclass
class FakeErrors:
    """A table of errors in memory; the first row of a record stays."""

    rows: dict[str, FailedRecord] = field(default_factory=dict)
    down: PenstockError | None = None
    calls: int = 0

    def keep(self, failed: Sequence[FailedRecord]) -> None:
        """Take all of them."""
        self.calls += 1
        if self.down:
            raise self.down
        for each in failed:
            self.rows.setdefault(str(each.record.source), each)


@dataclass
class World:
    """A consumer, and all that it touches."""

    registry: CountedRegistry
    readings: FakeTable
    errors: FakeErrors

    def build(self, *, partial_answers: bool = False) -> Consumer:
        """Build a consumer with nothing cached."""
        return Consumer(
            Registries([self.registry]),
            self.readings,
            self.errors,
            "lambda",
            partial_answers=partial_answers,
        )

    def consume(self, *values: bytes | None) -> Consumed:
        """Consume a batch of one partition."""
        return self.consume_partitions({"sensor/0": values})

    def consume_partitions(
        self, batch: Mapping[str, Sequence[bytes | None]], *, partial_answers: bool = False
    ) -> Consumed:
        """Consume a batch of partitions by topic/partition."""
        return self.build(partial_answers=partial_answers).consume(
            Record(Source(name.split("/")[0], int(name.split("/")[1]), offset), b"k", value)
            for name, values in batch.items()
            for offset, value in enumerate(values)
        )

    def frame(self, event: Mapping[str, Any]) -> bytes:
        """Write an event as the producer does."""
        schema = infer_schema(event, "sensor", None, BASE_FIELDS)
        return self.raw(schema, encode(to_record(event, schema, OWN), schema))

    def raw(self, schema: Schema, payload: bytes, name: str = "sensor") -> bytes:
        """Frame a payload under a schema."""
        return encode_glue_frame(self.registry.register(name, schema).version.key, payload)
