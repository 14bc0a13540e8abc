"""The parts of a schema change: its versions, and the records that are sent with each."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import fastavro

Schema = Mapping[str, Any]
Row = Mapping[str, Any]

ID: Final = "id"  # the field by which a row is found again
UNKNOWN_ID: Final = 2_000_000_000  # an id that no registry of a run reaches


class Kind(StrEnum):
    """The kinds of records that a topic may have."""

    GOOD = "good"
    BAD = "bad"  # no reader can make a row of it
    EMPTY = "empty"  # Kafka's null value, which holds no row


class Damage(StrEnum):
    """The ways in which a bad record is bad."""

    CUT = "cut"
    GARBAGE = "garbage"
    UNKNOWN_SCHEMA = "unknown-schema"


@dataclass(frozen=True, slots=True)
class Record:
    """A record: its row under one of the versions, or what is wrong with it."""

    row: Row
    version: int = 0
    kind: Kind = Kind.GOOD
    damage: Damage | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """Records that are sent together; the next round waits until systems have read them."""

    records: tuple[Record, ...]
    registry_down: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A change: its versions in order, and the rounds of records that bring them."""

    name: str
    title: str
    versions: tuple[Schema, ...]
    rounds: tuple[Round, ...]

    @property
    def records(self) -> tuple[Record, ...]:
        """All records, in the order in which they are sent."""
        return tuple(record for round_ in self.rounds for record in round_.records)

    def writer(self, record: Record) -> Schema:
        """Return the schema that a record is written with."""
        return self.versions[record.version]

    def expected(self) -> dict[str, Row]:
        """Return the rows that a correct reader must find, by their ids, as fastavro reads them."""
        return {
            record.row[ID]: read_payload(self.writer(record), self.payload(record))
            for record in self.records
            if record.kind is Kind.GOOD
        }

    def payload(self, record: Record) -> bytes:
        """Return the Avro of a record's row, without a frame."""
        return write_payload(self.writer(record), record.row)


def write_payload(schema: Schema, row: Row) -> bytes:
    """Return the Avro of a row."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(dict(schema)), dict(row), strict=True)
    return out.getvalue()


def read_payload(schema: Schema, payload: bytes) -> Row:
    """Return the row of an Avro payload."""
    row = fastavro.schemaless_reader(io.BytesIO(payload), fastavro.parse_schema(dict(schema)), None)
    assert isinstance(row, Mapping)
    return row


def record_of(fields: Sequence[Mapping[str, Any]], name: str = "Event", **more: Any) -> Schema:
    """Return the schema of a record with an id and more fields."""
    key = {"name": ID, "type": "string"}
    return {"type": "record", "name": name, "fields": [key, *fields], **more}


def field(name: str, type_: Any, **more: Any) -> dict[str, Any]:
    """Return a field."""
    return {"name": name, "type": type_, **more}


def optional(name: str, type_: Any) -> dict[str, Any]:
    """Return a field that may be null, and is by default."""
    return field(name, ["null", type_], default=None)


def number(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """Return the rounds with records whose ids count up from 1."""
    ids = iter(range(1, 1_000_000))
    return tuple(
        Round(tuple(_with_id(record, next(ids)) for record in each.records), each.registry_down)
        for each in rounds
    )


def _with_id(record: Record, id_: int) -> Record:
    return Record({ID: f"{id_:04}", **record.row}, record.version, record.kind, record.damage)


def good(version: int, rows: Iterator[Row] | Sequence[Row]) -> tuple[Record, ...]:
    """Return a good record of a version for each row."""
    return tuple(Record(row, version) for row in rows)
