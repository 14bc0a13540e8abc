"""A consumer that writes the records of a batch as rows or as dead letters."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Final

from penstock.consuming.reader import RecordReader
from penstock.consuming.readers import SchemaReaders
from penstock.consuming.settings import ConsumerSettings
from penstock.consuming.writing import ErrorSink, OutcomeWriter
from penstock.errors import PenstockError, Reason
from penstock.records import FailedRecord, Ignored, Outcome, Record, Source
from penstock.registry import Registries
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore, RowWriter, open_table

_LOG = logging.getLogger(__name__)
_RESERVE_MS: Final = 30_000  # to write the last rows and the dead letters of a batch

# A topic and a partition.
_Partition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Consumed:
    """The counts of a batch, and the records that must be delivered again.

    `held` has the first held record of each partition; all records after it are held too.
    """

    written: int
    given_up: Mapping[Reason, int]
    tombstones: int
    held: tuple[Source, ...] = ()


class _TimeIsUpError(PenstockError):
    """The next invocation of the function reads on."""

    retriable = True


@dataclass(slots=True)
class _Batch:
    """A batch that is being read: how many records have an outcome, and which are held."""

    outcomes: int = 0
    held: dict[_Partition, tuple[Source, PenstockError]] = field(default_factory=dict)


class Consumer:
    """Decodes each record with its writer schema and writes its row; for one thread.

    With `partial_answers`, a record with a retriable error holds back only its partition.
    Otherwise the whole batch must be delivered again. `stage` is written to dead letters.
    """

    def __init__(
        self,
        registries: Registries,
        readings: RowWriter,
        errors: ErrorSink,
        stage: str,
        *,
        partial_answers: bool = False,
    ) -> None:
        self._partial_answers = partial_answers
        self._schemas = SchemaReaders(registries, is_retried=partial_answers)
        self._reader = RecordReader(
            framing=registries.framing,
            schemas=self._schemas,
            stage=stage,
            shape=readings.shape,
            keys=self._schemas,
        )
        self._writer = OutcomeWriter(readings, _LoggedErrors(errors), self._reader)

    def consume(
        self, records: Iterable[Record], left_ms: Callable[[], float] = lambda: _RESERVE_MS
    ) -> Consumed:
        """Write a row for every record with a value, and dead letters for failed ones; idempotent.

        Rows are written and dropped while records are read; some may be written before an error.
        With partial answers, records for which too little time is left are held.

        Raises:
            PenstockError: the error is retriable, or no record is at fault: no record of the
                batch may be given up, and the whole batch must be consumed again.
        """
        self._schemas.begin()
        batch = _Batch()
        written = self._writer.write(self._read_records(records, batch, left_ms))
        return Consumed(
            written.rows + written.deletions,
            written.failed,
            written.ignored[Ignored.TOMBSTONE],
            tuple(source for source, _ in batch.held.values()),
        )

    def _read_records(
        self, records: Iterable[Record], batch: _Batch, left_ms: Callable[[], float]
    ) -> Iterator[Outcome]:
        """Yield the outcomes of the records that are not held.

        Raises:
            PenstockError: all records are held, or one cannot be.
        """
        for record in records:
            partition = record.source.topic, record.source.partition
            if partition in batch.held:
                continue
            try:
                if self._partial_answers and batch.outcomes and left_ms() < _RESERVE_MS:
                    raise _TimeIsUpError("the function has less than 30 s left")
                outcome = self._reader.read(record)
            except PenstockError as error:
                if not (self._partial_answers and error.retriable):
                    raise
                # A copy: the frames of a traceback would keep the payload alive.
                held = batch.held[partition] = (record.source, copy(error))
                _LOG.warning("%s and all later records of its partition are held: %.500s", *held)
                continue
            batch.outcomes += 1
            yield outcome
        if batch.held and not batch.outcomes:
            raise next(error for _, error in batch.held.values())


@dataclass(frozen=True, slots=True)
class _LoggedErrors:
    """A sink for failed records, each with a line in the log."""

    errors: ErrorSink

    def keep(self, failed: Sequence[FailedRecord]) -> None:
        for each in failed:
            source, failure = each.record.source, each.failure
            _LOG.warning("%s is given up as %s: %.500s", source, failure.reason, failure.detail)
        self.errors.keep(failed)


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
