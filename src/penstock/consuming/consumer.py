"""A consumer that writes the records of a batch as rows or as dead letters."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from penstock.consuming.settings import ConsumerSettings
from penstock.errors import Failure, PenstockError, Reason, UnroutableError
from penstock.framing import SchemaKey
from penstock.records import (
    FailedRecord,
    Record,
    Source,
    Tombstone,
    make_deletion,
    make_row,
)
from penstock.registry import Registries, SchemaVersion, load_registries
from penstock.schemas import compile_decoder, compile_restorer
from penstock.sinks import (
    DynamoDbClient,
    ErrorTable,
    ObjectStore,
    RowWriter,
    open_table,
)

_LOG = logging.getLogger(__name__)
_MAX_COMPILED = 1_000


@dataclass(frozen=True, slots=True)
class Consumed:
    """The counts of a batch, and the records that must be delivered again.

    `held` has the first held record of each partition; all records after it are held too.
    """

    written: int
    given_up: Mapping[Reason, int]
    tombstones: int
    held: tuple[Source, ...] = ()


@dataclass(slots=True)
class _Batch:
    """A batch that is being read: each record is in one of the fields, or after a held record."""

    read: list[tuple[Record, dict[str, Any]]] = field(default_factory=list)
    errors: list[FailedRecord] = field(default_factory=list)
    tombstones: int = 0
    held: dict[tuple[str, int], tuple[Source, PenstockError]] = field(default_factory=dict)
    missing: dict[SchemaKey, PenstockError] = field(default_factory=dict)

    def is_stuck(self) -> bool:
        """Return whether no record of the batch was read, given up or ignored."""
        return not (self.read or self.errors or self.tombstones)


class Consumer:
    """Decodes each record with its writer schema and writes its row; for one thread.

    With `partial_answers`, a record with a retriable error holds back only its partition.
    Otherwise the whole batch must be delivered again. `stage` is written to dead letters.
    """

    def __init__(
        self,
        registries: Registries,
        readings: RowWriter,
        errors: ErrorTable,
        stage: str,
        *,
        partial_answers: bool = False,
    ) -> None:
        self._registries = registries
        self._readings = readings
        self._errors = errors
        self._stage = stage
        self._shape = readings.shape
        self._partial_answers = partial_answers

    def consume(self, records: Iterable[Record]) -> Consumed:
        """Write a row for every record with a value, and dead letters for failed ones; idempotent.

        Raises:
            PenstockError: the error is retriable, or no record is at fault: no record of the
                batch may be given up, and the whole batch must be consumed again.
        """
        batch = self._read_batch(records)
        refused = self._readings.write([row for _, row in batch.read])
        errors = batch.errors + [
            self._give_up(batch.read[place][0], error) for place, error in refused.items()
        ]
        self._errors.keep(errors)
        return Consumed(
            len(batch.read) - len(refused),
            Counter(each.failure.reason for each in errors),
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
                    _LOG.warning(
                        "%s and all later records of its partition are held: %s",
                        record.source,
                        error,
                    )
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
        """Return the row of a record, or None for a tombstone that is ignored."""
        frame = self._registries.decode(record.value, record.headers)
        if frame is None:
            return self._read_tombstone(record)
        version = self._find_version(frame.key, batch)
        event = _compile(version)(frame.payload)
        return make_row(self._shape, event, record.source, version.number, str(version.key))

    def _read_tombstone(self, record: Record) -> dict[str, Any] | None:
        """Return the deleted row of a tombstone, or None if tombstones are ignored."""
        match self._shape.tombstone:
            case Tombstone.IGNORE:
                return None
            case Tombstone.DELETE:
                return make_deletion(self._shape, record)
            case Tombstone.DEAD_LETTER:
                raise UnroutableError(f"{record.source}: found a tombstone, expected a value")

    def _find_version(self, key: SchemaKey, batch: _Batch) -> SchemaVersion:
        """Find a schema version; the batch remembers a retriable failure, since a call is slow."""
        if key in batch.missing:
            raise batch.missing[key]
        try:
            return self._registries.find(key)
        except PenstockError as error:
            if error.retriable:
                batch.missing[key] = error
            raise

    def _give_up(self, record: Record, error: PenstockError) -> FailedRecord:
        """Return the failed record for an error, or raise the error if no record is at fault."""
        failure = Failure.of(error)
        _LOG.warning("%s is given up as %s: %s", record.source, failure.reason, error)
        key = self._registries.read_key(record.value, record.headers)
        return FailedRecord.of(record, failure, key, self._stage)


def build_consumer(settings: ConsumerSettings, stage: str) -> Consumer:
    """Build a consumer with its registries, two tables and a bucket; it makes no network call."""
    client = DynamoDbClient()
    return Consumer(
        load_registries(settings.registry),
        open_table(client, settings.readings_table, settings.shape),
        ErrorTable(client, settings.errors_table, ObjectStore(settings.parked_bucket)),
        stage,
        partial_answers=settings.partial_answers,
    )


@lru_cache(maxsize=_MAX_COMPILED)
def _compile(version: SchemaVersion) -> Callable[[bytes], Any]:
    """Compile the function from payload to event; cached, since a version never changes."""
    decode, restore = compile_decoder(version.schema), compile_restorer(version.schema)
    return lambda payload: restore(decode(payload))
