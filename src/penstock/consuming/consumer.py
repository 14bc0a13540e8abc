"""A batch of records into rows of readings, and of errors for those that never can be one."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from penstock.consuming.record import Record
from penstock.consuming.settings import ConsumerSettings
from penstock.errors import FramingError, NoRegistryForFramingError, PenstockError
from penstock.framing import FrameKind, decode_frame
from penstock.registry import CachedRegistry, SchemaRegistry, load_registry
from penstock.schemas import decode, from_record
from penstock.sinks import DynamoDbClient, ErrorRecord, TableWriter, make_error, make_reading

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Consumed:
    """What became of a batch: how many records are readings, errors, and tombstones."""

    written: int
    given_up: int
    tombstones: int


class Consumer:
    """Reads each record with the schema it was written in; for one thread."""

    def __init__(
        self, registry: SchemaRegistry, readings: TableWriter, errors: TableWriter, stage: str
    ) -> None:
        """Keep what to read and write with; `stage` is named in rows of errors."""
        self._registry = registry
        self._readings = readings
        self._errors = errors
        self._stage = stage

    def consume(self, records: Iterable[Record]) -> Consumed:
        """Make a row of every record that has a value; doing it again changes nothing.

        Raises:
            PenstockError: retriable, or nothing that a record could be blamed for: none of the
                batch may be given up, and all of it is to be consumed again.
        """
        read: list[tuple[Record, dict[str, Any]]] = []
        errors: list[dict[str, Any]] = []
        tombstones = 0
        for record in records:
            try:
                row = self._read(record)
            except PenstockError as error:
                errors.append(self._give_up(record, error))
                continue
            if row is None:
                tombstones += 1
            else:
                read.append((record, row))
        refused = self._readings.write([row for _, row in read])
        errors += [self._give_up(read[place][0], error) for place, error in refused.items()]
        for place, refusal in self._errors.write(errors).items():
            # With no place left for the record, the batch must come again.
            raise type(refusal)(
                f"{errors[place]['id']} is no reading and cannot be kept as an error: {refusal}"
            ) from refusal
        return Consumed(len(read) - len(refused), len(errors), tombstones)

    def _read(self, record: Record) -> dict[str, Any] | None:
        """Make the row of a record; None for a tombstone."""
        frame = decode_frame(record.value, record.headers)
        if frame is None:
            return None
        if frame.kind is not FrameKind.GLUE:
            raise NoRegistryForFramingError(
                f"found a frame of {frame.kind} with schema id {frame.schema_id}, expected one of "
                f"{self._registry.source}"
            )
        version = self._registry.get(str(frame.schema_id))
        event = from_record(decode(frame.payload, version.schema), version.schema)
        return make_reading(event, record.source, version.number, version.id)

    def _give_up(self, record: Record, error: PenstockError) -> dict[str, Any]:
        """Make the row of a record that cannot be kept, or raise where it may be one day."""
        if error.reason is None:
            raise error
        _LOG.warning("%s is given up as %s: %s", record.source, error.reason, error)
        return make_error(
            ErrorRecord(
                record.source,
                error.reason,
                str(error),
                _schema_id(record),
                record.key,
                record.value,
                record.headers,
                time.time_ns() // 1_000_000,
                self._stage,
            )
        )


def build_consumer(settings: ConsumerSettings, stage: str) -> Consumer:
    """Build a consumer of one registry and two tables; nothing is called yet."""
    client = DynamoDbClient()
    return Consumer(
        CachedRegistry(load_registry(settings.registry)),
        TableWriter.of_readings(client, settings.readings_table),
        TableWriter.of_errors(client, settings.errors_table),
        stage,
    )


def _schema_id(record: Record) -> str | None:
    try:
        frame = decode_frame(record.value, record.headers)
    except FramingError:
        return None
    return None if frame is None else str(frame.schema_id)
