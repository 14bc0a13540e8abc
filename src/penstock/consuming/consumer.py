"""A batch of records into rows of readings, and of errors for those that never can be one."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from penstock.consuming.record import Record
from penstock.consuming.settings import ConsumerSettings
from penstock.errors import FramingError, NoRegistryForFramingError, PenstockError, Reason
from penstock.framing import FrameKind, decode_frame
from penstock.registry import CachedRegistry, SchemaRegistry, SchemaVersion, load_registry
from penstock.schemas import compile_decoder, compile_restorer
from penstock.sinks import (
    DynamoDbClient,
    ErrorRecord,
    ErrorTable,
    Parking,
    Source,
    TableWriter,
    make_reading,
)

_LOG = logging.getLogger(__name__)
_MAX_COMPILED = 1_000


@dataclass(frozen=True, slots=True)
class Consumed:
    """What became of a batch.

    `held` has the first record of each partition that must come again, with all behind it.
    """

    written: int
    given_up: Mapping[Reason, int]
    tombstones: int
    held: tuple[Source, ...] = ()


@dataclass(slots=True)
class _Batch:
    """A batch that is being read: each record is in one of these, or behind one that is held."""

    read: list[tuple[Record, dict[str, Any]]] = field(default_factory=list)
    errors: list[ErrorRecord] = field(default_factory=list)
    tombstones: int = 0
    held: dict[tuple[str, int], tuple[Source, PenstockError]] = field(default_factory=dict)
    missing: dict[str, PenstockError] = field(default_factory=dict)  # by the schema version's id

    def is_stuck(self) -> bool:
        """Whether nothing of it gets anywhere."""
        return not (self.read or self.errors or self.tombstones)


class Consumer:
    """Reads each record with the schema it was written in; for one thread.

    With `partial_answers`, a record that has to wait holds back its own partition only; else it
    makes the whole batch come again.
    """

    def __init__(
        self,
        registry: SchemaRegistry,
        readings: TableWriter,
        errors: ErrorTable,
        stage: str,
        *,
        partial_answers: bool = False,
    ) -> None:
        """Keep what to read and write with; `stage` is named in rows of errors."""
        self._registry = registry
        self._readings = readings
        self._errors = errors
        self._stage = stage
        self._partial_answers = partial_answers

    def consume(self, records: Iterable[Record]) -> Consumed:
        """Make a row of every record that has a value; doing it again changes nothing.

        Raises:
            PenstockError: retriable, or nothing that a record could be blamed for: none of the
                batch may be given up, and all of it is to be consumed again.
        """
        batch = self._read_batch(records)
        refused = self._readings.write([row for _, row in batch.read])
        errors = batch.errors + [
            self._give_up(batch.read[place][0], error) for place, error in refused.items()
        ]
        self._errors.keep(errors)
        return Consumed(
            len(batch.read) - len(refused),
            Counter(error.reason for error in errors),
            batch.tombstones,
            tuple(source for source, _ in batch.held.values()),
        )

    def _read_batch(self, records: Iterable[Record]) -> _Batch:
        batch = _Batch()
        for record in records:
            partition = (record.source.topic, record.source.partition)
            if partition in batch.held:
                continue
            try:
                row = self._read(record, batch)
            except PenstockError as error:
                if self._partial_answers and error.retriable:
                    _LOG.warning("%s and all behind it must come again: %s", record.source, error)
                    batch.held[partition] = (record.source, error)
                else:
                    batch.errors.append(self._give_up(record, error))
                continue
            if row is None:
                batch.tombstones += 1
            else:
                batch.read.append((record, row))
        if batch.held and batch.is_stuck():
            raise next(error for _, error in batch.held.values())
        return batch

    def _read(self, record: Record, batch: _Batch) -> dict[str, Any] | None:
        """Make the row of a record; None for a tombstone."""
        frame = decode_frame(record.value, record.headers)
        if frame is None:
            return None
        if frame.kind is not FrameKind.GLUE:
            raise NoRegistryForFramingError(
                f"found a frame of {frame.kind} with schema id {frame.schema_id}, expected one of "
                f"{self._registry.source}"
            )
        version = self._find_version(str(frame.schema_id), batch)
        event = _compile(version)(frame.payload)
        return make_reading(event, record.source, version.number, version.id)

    def _find_version(self, version_id: str, batch: _Batch) -> SchemaVersion:
        """Ask the registry; of one that is down only once in a batch, for that takes its time."""
        if version_id in batch.missing:
            raise batch.missing[version_id]
        try:
            return self._registry.get(version_id)
        except PenstockError as error:
            if error.retriable:
                batch.missing[version_id] = error
            raise

    def _give_up(self, record: Record, error: PenstockError) -> ErrorRecord:
        """Say why a record never can be a reading, or raise where it may be one day."""
        if error.reason is None:
            raise error
        _LOG.warning("%s is given up as %s: %s", record.source, error.reason, error)
        return ErrorRecord(
            record.source,
            record.timestamp_ms,
            error.reason,
            str(error),
            _schema_id(record),
            record.key,
            record.value,
            record.headers,
            time.time_ns() // 1_000_000,
            self._stage,
        )


def build_consumer(settings: ConsumerSettings, stage: str) -> Consumer:
    """Build a consumer of one registry, two tables and a bucket; nothing is called yet."""
    client = DynamoDbClient()
    return Consumer(
        CachedRegistry(load_registry(settings.registry)),
        TableWriter.of_readings(client, settings.readings_table),
        ErrorTable(client, settings.errors_table, Parking(settings.parked_bucket)),
        stage,
        partial_answers=settings.partial_answers,
    )


@lru_cache(maxsize=_MAX_COMPILED)
def _compile(version: SchemaVersion) -> Callable[[bytes], Any]:
    """Compile what turns a payload into an event; a version never changes."""
    decode, restore = compile_decoder(version.schema), compile_restorer(version.schema)
    return lambda payload: restore(decode(payload))


def _schema_id(record: Record) -> str | None:
    try:
        frame = decode_frame(record.value, record.headers)
    except FramingError:
        return None
    return None if frame is None else str(frame.schema_id)
