"""The sink of one topic of changes, which writes them to each output of the job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from penstock.consuming import SchemaReaders
from penstock.errors import JobError, Reason
from penstock.extensions.cdc.spark.envelope import Changes, read_changes
from penstock.extensions.cdc.spark.exact import check_exact
from penstock.extensions.cdc.spark.keys import find_key
from penstock.extensions.cdc.spark.net import (
    BatchLog,
    LogState,
    find_net,
    find_unavailable,
    measure,
    order_changes,
)
from penstock.spark.columns import merge_columns
from penstock.spark.lake.conversion import find_inexact
from penstock.spark.rows import EVENT, Fence
from penstock.spark.sinks.base import Part, Sink
from penstock.spark.state.files import StateFiles
from penstock.spark.state.lease import NoLease

_READ: Final = (EVENT, "_topic", "_kafka_partition", "_offset", "_kafka_timestamp")
_KEY: Final = ("_key", "CAST(NULL AS BINARY) AS _value", "_headers")


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """The changes of a part of a batch.

    Attributes:
        part: the part.
        topic: their topic.
        records: decoded records (`penstock.spark.rows`).
        changes: the changes of rows that they hold, each with its place in the order of all.
        log: the figures of the changes.
        net: the net change of each row (`find_net`).
        long_fields: the fields whose values the log may not have, as they are out of line.
        lease: what says that no other job writes the tables.
    """

    part: Part
    topic: str
    records: DataFrame
    changes: Changes
    log: BatchLog
    net: DataFrame
    long_fields: tuple[str, ...]
    lease: Fence

    @property
    def key(self) -> tuple[str, ...]:
        """Return the fields of the primary key; none if no record has one."""
        return self.log.state.key

    @property
    def spark(self) -> SparkSession:
        """Return the session of the batch, which has its views: a stream has one of its own."""
        return self.records.sparkSession

    def check_exact(self, columns: StructType) -> None:
        """Check that a table with these columns will not round a whole number of the changes.

        Raises:
            JobError: it will.
            SchemaConflictError: a column cannot hold a field of the records.
        """
        type_ = self.changes.type
        inexact = find_inexact(type_, merge_columns(columns, type_))
        check_exact(self.changes.rows, inexact, self.topic)

    def check_places(self, *written: DataFrame) -> None:
        """Check that what was changed before a whole snapshot has no later place than it has.

        `written` are rows of a table, each with the place and the time of its last change.

        Raises:
            JobError: the database was restored to an earlier place, or replaced.
        """
        end, state = self.log.complete, self.log.state
        if end is None:
            return
        known = filter(None, (state.truncated, state.complete))
        if any(map(end.undoes, known)) or any(
            not each.filter(end.is_undone).isEmpty() for each in written
        ):
            raise JobError(
                f"found changes of {self.topic} from before its last snapshot at later places of"
                " the database's log, expected earlier ones: the database was restored or replaced;"
                " write new tables with a new checkpoint, as docs/cdc.md says"
            )


class Output(Protocol):
    """A destination for the changes of a table; writes are idempotent."""

    def write(self, batch: ChangeBatch) -> None:
        """Write the changes of a part of a batch."""


class LogStates:
    """The state of a table's log, in a folder that only its job uses."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._files = StateFiles(spark, folder)

    def read(self) -> LogState:
        """Return the last state."""
        last = self._files.read_last()
        return LogState() if last is None else LogState.parse(last[1])

    def write(self, state: LogState, lease: Fence) -> None:
        """Write a state in place of those before; that of a job that takes the lease stays."""
        before = self._files.names()
        lease.check()
        self._files.replace(str(state), before)


@dataclass(slots=True)
class ChangeSink(Sink):
    """The outputs of one topic of changes.

    Attributes:
        topic: the topic.
        outputs: where its changes go, one after the other.
        states: where the state of the log is kept.
        readers: the readers of Avro keys.
        unavailable: the text that stands for values which the log does not have.
        needs_key: whether an output needs the fields of the primary key.
        lease: what says that no other job writes the tables.
    """

    topic: str
    outputs: Sequence[Output]
    states: LogStates
    readers: SchemaReaders
    unavailable: str
    needs_key: bool = True
    lease: Fence = field(default_factory=NoLease)

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Write the changes that rows hold to all outputs; this is idempotent.

        Raises:
            JobError: the records are no changes of a table of PostgreSQL, a table would round a
                number of theirs, or the database was restored to an earlier place.
            SchemaConflictError: a column cannot hold a field of the records.
            SinkUnavailableError: a table cannot be written now; write the batch again.
        """
        with keep(rows.selectExpr(*_READ, *_KEY)) as kept:
            changes = read_changes(kept, self.topic, self.unavailable)
            before = self.states.read()
            log = measure(changes, before, self.unavailable, self.topic)
            if not log.changes:
                return {}
            if self.needs_key:
                log = replace(log, state=self._add_key(log, kept, part))
            if log.state != before:
                self.states.write(log.state, self.lease)
            self._write_changes(kept, changes, log, part)
        return {}

    def _add_key(self, log: BatchLog, kept: DataFrame, part: Part) -> LogState:
        if log.keyless:
            raise JobError(
                f"found {log.keyless} changes of {self.topic} without a key, expected a table with"
                " a primary key, or message.key.columns in the connector"
            )
        self.readers.begin()  # ids that it did not find may be there now
        key = find_key(kept, part.framing, self.readers, self.topic, log.state.key)
        return replace(log.state, key=key)

    def _write_changes(self, kept: DataFrame, changes: Changes, log: BatchLog, part: Part) -> None:
        ordered = order_changes(changes, log.state)
        lost = self.unavailable if log.is_unavailable else ""
        with keep(find_net(ordered, log.state, lost)) as net:
            unavailable = find_unavailable(changes.type, self.unavailable)
            fields = tuple(name for name, _ in unavailable if name not in log.state.key)
            batch = ChangeBatch(part, self.topic, kept, ordered, log, net, fields, self.lease)
            batch.check_places()
            for each in self.outputs:
                each.write(batch)


@contextmanager
def keep(rows: DataFrame) -> Iterator[DataFrame]:
    """Cache rows, in memory or on disk, until the block ends."""
    kept = rows.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept
    finally:
        kept.unpersist()


@contextmanager
def named_view(rows: DataFrame) -> Iterator[str]:
    """Make a temporary view of rows for SQL, and drop it when the block ends; yield its name."""
    view = f"penstock_rows_{id(rows)}"
    rows.createOrReplaceTempView(view)
    try:
        yield view
    finally:
        rows.sparkSession.catalog.dropTempView(view)
