"""One way from a Kafka record to its outcome: a row, a deletion, a dead letter or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.consuming.readers import Schemas
from penstock.errors import (
    Failure,
    FramingError,
    PenstockError,
    SchemaNotFoundError,
    UnroutableError,
)
from penstock.framing import Frame, Framing, SchemaKey
from penstock.records import (
    Deletion,
    FailedRecord,
    FindReader,
    Ignored,
    Outcome,
    Projection,
    Record,
    Row,
    RowShape,
    Tombstone,
    Waiting,
    make_deletion,
    make_row,
    read_key,
)


@dataclass(frozen=True, slots=True)
class RecordReader:
    """Reads the records of one table; for the consumer function, Spark's tasks, and the terminal.

    Attributes:
        framing: how schema ids are found.
        schemas: where the readers of values are found.
        stage: who gives up records, as dead letters name it.
        shape: the form of rows; without one, a row is the event.
        keys: where the readers of Avro keys are found.
        columns: the fields of events that are columns; without it, all are.
        constant: the text in the constant column of `columns`.
    """

    framing: Framing
    schemas: Schemas
    stage: str
    shape: RowShape | None = None
    keys: Schemas | None = None
    columns: Projection | None = None
    constant: str = ""

    def read(self, record: Record) -> Outcome:
        """Return the outcome of a record.

        Raises:
            PenstockError: it is retriable, or not the fault of a record: the record must not be
                given up.
        """
        try:
            return self._read_frame(record, self._open(record))
        except PenstockError as error:
            return self.give_up(record, error)

    def read_waiting(self, record: Record, decided: frozenset[SchemaKey]) -> Outcome:
        """Return the outcome of a record in a later pass over a batch.

        Only records that waited are read: those with a frame whose key is not among the `decided`.

        Raises:
            PenstockError: see `read`.
        """
        try:
            frame = self._open(record)
        except FramingError:
            return Ignored.DECIDED
        if frame is None or frame.key in decided:
            return Ignored.DECIDED
        try:
            return self._read_frame(record, frame)
        except PenstockError as error:
            return self.give_up(record, error)

    def give_up(self, record: Record, error: PenstockError | Failure) -> FailedRecord:
        """Return the failed record for an error, or raise the error if no record is at fault."""
        failure = error if isinstance(error, Failure) else Failure.of(error)
        key = self.framing.read_key(record.value, record.headers, record.source.topic)
        return FailedRecord.of(record, failure, key, self.stage)

    def read_key(self, record: Record) -> Mapping[str, Any] | None:
        """Return the fields of a record's key, or None if key fields are in the event.

        Raises:
            PenstockError: see `records.read_key`.
        """
        if self.shape is None:
            return None
        find = make_key_finder(self.keys, record)
        return read_key(self.shape, record, self.framing, find)

    def _open(self, record: Record) -> Frame | None:
        return self.framing.decode(record.value, record.headers, record.source.topic)

    def _read_frame(self, record: Record, frame: Frame | None) -> Outcome:
        if frame is None:
            return self._read_tombstone(record)
        schema = self.schemas.find(frame.key, record.source)
        if schema is None:
            return Waiting(record, frame.key)
        if isinstance(schema, Failure):
            return self.give_up(record, schema)
        event = schema.read(frame.payload)
        if self.columns is not None:
            event = self.columns.project(event, self.constant)
            if event is None:
                return Ignored.EMPTY
        if self.shape is None:
            return Row(record, event)
        fields = self.read_key(record)
        values = make_row(
            self.shape, event, record, schema.number, str(frame.key), key_fields=fields
        )
        return Row(record, values)

    def _read_tombstone(self, record: Record) -> Outcome:
        match self.shape and self.shape.tombstone:
            case Tombstone.DELETE if self.shape is not None:
                fields = self.read_key(record)
                return Deletion(record, make_deletion(self.shape, record, fields))
            case Tombstone.DEAD_LETTER:
                raise UnroutableError("found a tombstone, expected a value")
        return Ignored.TOMBSTONE


def make_key_finder(keys: Schemas | None, record: Record) -> FindReader:
    """Return the function that finds the reader of a record's key by its schema.

    It raises SchemaNotFoundError if no registry of the program has the schema.
    """

    def find(key: SchemaKey) -> Callable[[bytes], Any]:
        reader = keys.find(key, record.source) if keys else None
        if reader is None or isinstance(reader, Failure):
            raise SchemaNotFoundError(f"schema {key} of a key is in no registry of this program")
        return reader.read

    return find
