"""Follow one event from its record to its rows, or to the place where it was given up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from penstock.cli import describe_bytes, show_moment
from penstock.errors import OperationError, PenstockError
from penstock.extensions.trace.files import find_file
from penstock.extensions.trace.letters import find_letters, find_rejected
from penstock.extensions.trace.model import State, Step, Trace
from penstock.extensions.trace.names import EventName
from penstock.extensions.trace.rows import find_row
from penstock.extensions.trace.schema import (
    DecodedRecord,
    describe_frame,
    describe_schema,
    find_event_time,
)
from penstock.extensions.trace.topic import FoundRecord, Topics
from penstock.operations import Programs, ReaderTable
from penstock.records import MAX_TIMESTAMP_MS, READING, Record, RowShape, Source
from penstock.registry import Registries


@dataclass(frozen=True, slots=True)
class Places:
    """Where the steps of an event are looked for, with the credentials of one account.

    `topics` and `programs` are texts if they cannot be looked at, and say why. `errors_tables` are
    the dead-letter tables, that of the job `consume` first.
    """

    topics: Topics | str
    registries: Registries
    programs: Programs | str
    errors_tables: Sequence[str] = ()
    rejected_bucket: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class Tracer:
    """Follows events through the places of an account."""

    places: Places

    def trace(self, text: str) -> Trace:
        """Return the steps of an event that is named.

        Raises:
            OperationError: it is no name of an event.
        """
        name = EventName.read(text)
        if name.source is None:
            places = self.places
            return Trace(
                name.text, (find_rejected(places.rejected_bucket, name.text, places.profile),)
            )
        found = self._find_record(name.source)
        if not isinstance(found, Step) and name.record_id not in {"", _write_id(found.record)}:
            time = show_moment(found.record.timestamp_ms)
            seen = f"the topic has another record there, of {time}: it was created again"
            found = Step("record", State.MISSING, seen)
        return self._follow(name.source, found, name.record_id)

    def trace_key(self, topic: str, key: str, last: int) -> Trace:
        """Return the steps of the newest record with a key.

        Raises:
            OperationError: the topic has no such record, or cannot be read.
            BrokerError: see `Topics.find_newest`.
        """
        topics = self.places.topics
        if isinstance(topics, str):
            raise OperationError(f"the record of a key cannot be looked for: {topics}")
        found = topics.find_newest(topic, key, last)
        if found is None:
            raise OperationError(
                f"found no record with the key {key!r} among the last {last:,} offsets of each "
                f"partition of {topic}; look further back with --last"
            )
        return self._follow(found.record.source, found, "")

    def _find_record(self, source: Source) -> FoundRecord | Step:
        """Return the record at a place, or the step that says why there is none."""
        topics = self.places.topics
        try:
            found = topics if isinstance(topics, str) else topics.find(source)
        except PenstockError as error:
            found = str(error)
        if isinstance(found, str):
            return Step("record", State.NOT_SEEN, found)
        seen = "the topic has no record there: it was never written, or deleted since"
        return found or Step("record", State.MISSING, seen)

    def _follow(self, source: Source, found: FoundRecord | Step, record_id: str) -> Trace:
        registries = self.places.registries
        decoded = None
        if isinstance(found, Step):
            steps = [found]
        else:
            record, decoded = found.record, DecodedRecord(found, registries)
            steps = [_describe_record(record), describe_frame(record, registries)]
            steps += describe_schema(decoded)
            record_id = _write_id(record)
        tables = self._find_tables(source, decoded)
        if decoded is not None:
            steps[:0] = _describe_event(decoded, tables if isinstance(tables, list) else [])
        steps += self._look_at_tables(source, record_id, decoded, tables)
        steps += self._look_at_letters(source, record_id)
        if steps[0].state is State.MISSING and any(each.state is State.FOUND for each in steps):
            steps[0] = replace(steps[0], state=State.NONE)  # the topic keeps no record for ever
        return Trace(str(source), tuple(steps))

    def _find_tables(
        self, source: Source, decoded: DecodedRecord | None
    ) -> list[ReaderTable] | str:
        """Return the tables that programs write from the topic; a text if they are not known."""
        programs = self.places.programs
        if isinstance(programs, str):
            return programs
        schema = decoded.version.name if decoded and decoded.version else source.topic
        found: dict[str, ReaderTable] = {}
        for reader in programs.readers:
            if source.topic in reader.topics:
                for table in reader.choose_tables(schema, {source.topic}) or ():
                    known = found.get(table.name)
                    found[table.name] = table if known is None or known.shape is None else known
        return [each for each in found.values() if each.made_of is None]

    def _look_at_tables(
        self,
        source: Source,
        record_id: str,
        decoded: DecodedRecord | None,
        tables: list[ReaderTable] | str,
    ) -> Iterator[Step]:
        if isinstance(tables, str):
            yield Step("row", State.NOT_SEEN, tables)
            yield Step("lake file", State.NOT_SEEN, tables)
            return
        for table in tables:
            if table.kind == "dynamodb":
                yield from find_row(table, decoded)
        written_ms = int(record_id.rpartition("/")[2]) if record_id else None
        for table in tables:
            if table.kind != "dynamodb":
                yield from find_file(table, source, written_ms, decoded)

    def _look_at_letters(self, source: Source, record_id: str) -> Iterator[Step]:
        places = self.places
        if not places.errors_tables:
            why = "no table is named; PENSTOCK_ERRORS_TABLE or --errors-table names one"
            yield Step("dead letter", State.NOT_SEEN, why)
        for table in places.errors_tables:
            yield from find_letters(
                table, places.profile, source, record_id, places.errors_tables[0]
            )


def _write_id(record: Record) -> str:
    """Return the id of a record in dead letters, where later times stand for the last of Spark."""
    return f"{record.source}/{min(record.timestamp_ms, MAX_TIMESTAMP_MS)}"


def _describe_record(record: Record) -> Step:
    values = {
        "topic": record.source.topic,
        "partition": record.source.partition,
        "offset": record.source.offset,
        "recordKey": describe_bytes(record.key),
        "headers": [name for name, _ in record.headers],
    }
    key = (
        "no key" if record.key is None else f"key {record.key.decode('utf-8', 'backslashreplace')}"
    )
    return Step("record", State.FOUND, f"{record.source}, {key}", values, record.timestamp_ms)


def _describe_event(decoded: DecodedRecord, tables: Sequence[ReaderTable]) -> list[Step]:
    """Return the step of the event's own time, if it has one."""
    shape = _find_shape(tables)
    moment = find_event_time(decoded.event, shape)
    if moment is None:
        return []
    seen = f"its time in {shape.event_time}"
    return [Step("event", State.FOUND, seen, {"field": shape.event_time}, moment)]


def _find_shape(tables: Sequence[ReaderTable]) -> RowShape:
    return next((each.shape for each in tables if each.shape), READING)
