"""The frame of a record and the schema version that it was written in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any, Final

from penstock.consuming import RecordReader, SchemaReaders
from penstock.errors import Failure, FramingError, PenstockError, Reason, UnroutableError
from penstock.extensions.trace.model import State, Step
from penstock.extensions.trace.topic import FoundRecord, Version
from penstock.framing import SchemaKey
from penstock.records import FailedRecord, Outcome, Record, Row, RowShape, make_row
from penstock.registry import Registries
from penstock.schemas import read_time

_STAGE: Final = "terminal"
_HEAD_BYTES: Final = 20  # a whole header of Glue's, with two bytes of the payload
_MILLISECOND: Final = 1_000_000


class DecodedRecord:
    """A record with its version, and what programs make of it, each looked up once.

    A host that has read the record has decoded it too; otherwise the registries are asked.
    `problem` says why the version is not known.
    """

    def __init__(self, found: FoundRecord, registries: Registries) -> None:
        self.record = found.record
        self.registries = registries
        self._told = found.told
        self.version: Version | None = None
        self.problem = ""
        self.key = registries.read_key(
            self.record.value, self.record.headers, self.record.source.topic
        )
        if self._told is not None:
            self.version = self._told.version
            self.problem = "" if self.version else "the host could not look it up"
        elif self.key is not None:
            self._look_up_version(self.key)

    def read(self, shape: RowShape | None = None) -> Outcome:
        """Return the outcome of the record in a table; without a shape, its row is the event.

        Raises:
            PenstockError: the registry cannot be asked.
        """
        schemas = SchemaReaders(self.registries)
        schemas.begin()
        framing = self.registries.framing
        reader = RecordReader(framing, schemas, _STAGE, shape, keys=schemas)
        if self._told is None or self.record.value is None:
            return reader.read(self.record)
        if self._told.failure or self.version is None:
            failure = self._told.failure or Failure(Reason.UNKNOWN_SCHEMA, self.problem)
            return reader.give_up(self.record, failure)
        event = self._told.event
        if shape is not None:
            number, key_id = self.version.version, self.version.id
            try:
                fields = reader.read_key(self.record)
                event = make_row(shape, event, self.record, number, key_id, key_fields=fields)
            except UnroutableError as error:
                return reader.give_up(self.record, error)
        return Row(self.record, event)

    @cached_property
    def event(self) -> Mapping[str, Any]:
        """The event; empty if the record has none, or cannot be decoded now."""
        try:
            outcome = self.read()
        except PenstockError:
            return {}
        found = outcome.values if isinstance(outcome, Row) else {}
        return found if isinstance(found, Mapping) else {}

    def _look_up_version(self, key: SchemaKey) -> None:
        if key.kind not in self.registries:
            names = "PENSTOCK_REGISTRY or --registry names one"
            self.problem = f"no registry of {key.kind} is named; {names}"
            return
        try:
            found = self.registries.find(key)
        except PenstockError as error:
            self.problem = str(error)
        else:
            self.version = Version(found.name, found.number, str(found.key))


def describe_frame(record: Record, registries: Registries) -> Step:
    """Return the step of the frame: its first bytes, codec and schema id."""
    value = record.value
    if value is None:
        return Step("frame", State.NONE, "a tombstone: a record without a value")
    shown: dict[str, Any] = {"head": value[:_HEAD_BYTES].hex(" "), "bytes": len(value)}
    try:
        frame = registries.decode(value, record.headers, record.source.topic)
    except FramingError as error:
        return Step("frame", State.FOUND, f"{shown['head']}: {error}", shown)
    assert frame is not None  # noqa: S101 - the value is not None
    shown |= {
        "kind": frame.key.kind.value,
        "schemaId": str(frame.key),
        "compression": frame.compression.value,
        "payloadBytes": len(frame.payload),
    }
    seen = (
        f"{frame.key.kind}, compression {frame.compression}, schema {frame.key}, "
        f"{len(value):,} bytes: {shown['head']}"
    )
    return Step("frame", State.FOUND, seen, shown)


def describe_schema(decoded: DecodedRecord) -> Iterator[Step]:
    """Yield the step of the version; a record without a frame has none."""
    version = decoded.version
    if version is None:
        if decoded.key is not None:
            yield Step("schema", State.NOT_SEEN, decoded.problem)
        return
    values: dict[str, Any] = asdict(version)
    seen = f"{version.name} version {version.version}"
    try:
        outcome = decoded.read()
    except PenstockError as error:
        yield Step("schema", State.NOT_SEEN, str(error))
        return
    if isinstance(outcome, FailedRecord):
        failure = outcome.failure
        seen = f"{seen}, which cannot read it: {failure.reason}: {failure.detail}"
        values |= {"reason": failure.reason.value, "detail": failure.detail}
    yield Step("schema", State.FOUND, seen, values)


def find_event_time(event: Mapping[str, Any], shape: RowShape) -> int | None:
    """Return the time of an event in milliseconds; None if it has none."""
    if shape.event_time is None:
        return None
    nanoseconds = read_time(event.get(shape.event_time))
    return None if nanoseconds is None else nanoseconds // _MILLISECOND
