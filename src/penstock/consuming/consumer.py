"""A consumer that writes the records of a batch as rows or as dead letters."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.consuming.settings import ConsumerSettings
from penstock.errors import (
    Failure,
    PenstockError,
    Reason,
    RegistryAccessDeniedError,
    RegistryUnavailableError,
    SchemaNotFoundError,
    UnroutableError,
)
from penstock.framing import FrameKind, SchemaKey
from penstock.records import (
    FailedRecord,
    Record,
    Source,
    Tombstone,
    make_deletion,
    make_row,
    read_key,
)
from penstock.registry import Registries, SchemaVersion
from penstock.schemas import compile_event_decoder
from penstock.sinks import (
    DynamoDbClient,
    ErrorTable,
    ObjectStore,
    RowWriter,
    open_table,
)

_LOG = logging.getLogger(__name__)
_MAX_READERS: Final = 1_000
# Lookups that fail in a batch, each a call of the registry; then one more in each other partition.
_MAX_LOOKUPS: Final = 100

# A topic and a partition.
_Partition = tuple[str, int]
# A function from payload to event, and the number of its schema version.
_Reader = tuple[Callable[[bytes], Any], int]


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
    """A batch that is being read: each record is in one of the fields, or after a held record.

    `failed` and `down` have the errors of schemas and registries, which are not asked again;
    `refused` has the partitions with a lookup that failed. Errors are copies: the frames of a
    traceback would keep the payloads of their records alive.
    """

    read: list[Record] = field(default_factory=list)
    errors: list[FailedRecord] = field(default_factory=list)
    tombstones: int = 0
    held: dict[_Partition, tuple[Source, PenstockError]] = field(default_factory=dict)
    failed: dict[SchemaKey, PenstockError] = field(default_factory=dict)
    refused: set[_Partition] = field(default_factory=set)
    down: dict[FrameKind, PenstockError] = field(default_factory=dict)

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
        self._readers: dict[SchemaKey, _Reader] = {}

    def consume(self, records: Iterable[Record]) -> Consumed:
        """Write a row for every record with a value, and dead letters for failed ones; idempotent.

        Rows are written and dropped while records are read; some may be written before an error.

        Raises:
            PenstockError: the error is retriable, or no record is at fault: no record of the
                batch may be given up, and the whole batch must be consumed again.
        """
        batch = _Batch()
        refused = self._readings.write(self._read_rows(records, batch))
        if batch.held and batch.is_stuck():
            raise next(error for _, error in batch.held.values())
        errors = batch.errors + [
            self._give_up(batch.read[place], error) for place, error in refused.items()
        ]
        self._errors.keep(errors)
        return Consumed(
            len(batch.read) - len(refused),
            Counter(each.failure.reason for each in errors),
            batch.tombstones,
            tuple(source for source, _ in batch.held.values()),
        )

    def _read_rows(self, records: Iterable[Record], batch: _Batch) -> Iterator[dict[str, Any]]:
        for record in records:
            partition = _partition_of(record)
            if partition in batch.held:
                continue
            try:
                row = self._read(record, batch)
            except PenstockError as error:
                if self._partial_answers and error.retriable:
                    held = batch.held[partition] = (record.source, copy(error))
                    _LOG.warning(
                        "%s and all later records of its partition are held: %.500s", *held
                    )
                else:
                    batch.errors.append(self._give_up(record, error))
                continue
            if row is None:
                batch.tombstones += 1
            else:
                batch.read.append(record)
                yield row

    def _read(self, record: Record, batch: _Batch) -> dict[str, Any] | None:
        """Return the row of a record, or None for a tombstone that is ignored."""
        frame = self._registries.decode(record.value, record.headers, record.source.topic)
        if frame is None:
            return self._read_tombstone(record, batch)
        read, number = self._find_reader(frame.key, _partition_of(record), batch)
        event = read(frame.payload)
        key_fields = self._read_key(record, batch)
        schema_id = str(frame.key)
        return make_row(self._shape, event, record, number, schema_id, key_fields=key_fields)

    def _read_key(self, record: Record, batch: _Batch) -> Mapping[str, Any] | None:
        """Return the fields of a record's key, or None if key fields are in the event."""

        def find(key: SchemaKey) -> Callable[[bytes], Any]:
            return self._find_reader(key, _partition_of(record), batch)[0]

        return read_key(self._shape, record, self._registries.framing, find)

    def _read_tombstone(self, record: Record, batch: _Batch) -> dict[str, Any] | None:
        """Return the deleted row of a tombstone, or None if tombstones are ignored."""
        match self._shape.tombstone:
            case Tombstone.IGNORE:
                return None
            case Tombstone.DELETE:
                return make_deletion(self._shape, record, self._read_key(record, batch))
            case Tombstone.DEAD_LETTER:
                raise UnroutableError(f"{record.source}: found a tombstone, expected a value")

    def _find_reader(self, key: SchemaKey, partition: _Partition, batch: _Batch) -> _Reader:
        """Return the reader of a schema key; a batch limits the lookups that fail."""
        if reader := self._readers.get(key):
            return reader
        if error := batch.failed.get(key) or batch.down.get(key.kind):
            raise copy(error)
        # A flood of unknown keys in one partition does not stop the others.
        if len(batch.failed) >= _MAX_LOOKUPS and partition in batch.refused:
            # A partition that is held makes progress, and a batch that fails as a whole does not.
            kind = RegistryUnavailableError if self._partial_answers else SchemaNotFoundError
            raise kind(
                f"schema {key} was not looked up, since {_MAX_LOOKUPS} others of the batch failed"
            )
        try:
            version = self._registries.find(key)
        except PenstockError as error:
            batch.failed[key] = copy(error)
            batch.refused.add(partition)
            if isinstance(error, RegistryAccessDeniedError | RegistryUnavailableError):
                batch.down[key.kind] = batch.failed[key]
            raise
        if len(self._readers) == _MAX_READERS:
            del self._readers[next(iter(self._readers))]
        reader = self._readers[key] = _compile(version), version.number
        return reader

    def _give_up(self, record: Record, error: PenstockError) -> FailedRecord:
        """Return the failed record for an error, or raise the error if no record is at fault."""
        failure = Failure.of(error)
        _LOG.warning("%s is given up as %s: %.500s", record.source, failure.reason, failure.detail)
        key = self._registries.read_key(record.value, record.headers, record.source.topic)
        return FailedRecord.of(record, failure, key, self._stage)


def build_consumer(settings: ConsumerSettings, stage: str) -> Consumer:
    """Build a consumer with its registries, two tables and a bucket; only backups are read now."""
    client = DynamoDbClient()
    return Consumer(
        settings.schemas.load(),
        open_table(client, settings.readings_table, settings.shape),
        ErrorTable(client, settings.errors_table, ObjectStore(settings.parked_bucket)),
        stage,
        partial_answers=settings.partial_answers,
    )


def _partition_of(record: Record) -> _Partition:
    return record.source.topic, record.source.partition


def _compile(version: SchemaVersion) -> Callable[[bytes], Any]:
    """Compile the function from payload to event."""
    return compile_event_decoder(version.schema)
