"""The lineage of topics and tables as values, which each `--output` prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a schema that the registry has accepted; `registered_at` may be unknown."""

    schema: str
    number: int
    registered_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Writer:
    """A producer that writes a topic with a schema."""

    program: str
    schema: str


@dataclass(frozen=True, slots=True)
class Use:
    """A program that reads a topic, and the tables that it writes with the records.

    `reads` are the tables that it reads in place of the topic, whose records they have.
    """

    consumer: str
    program: str
    tables: tuple[str, ...]
    own_code: bool = False
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with its producers, the versions of its schemas, and the programs that read it.

    `may_write` and `may_read` are the programs whose access lists allow it.
    """

    name: str
    writers: tuple[Writer, ...]
    versions: tuple[Version, ...]
    uses: tuple[Use, ...]
    may_write: tuple[str, ...] = ()
    may_read: tuple[str, ...] = ()

    def group_versions(self) -> dict[str, list[int]]:
        """Return the numbers of versions by schema."""
        numbers: dict[str, list[int]] = {}
        for each in self.versions:
            numbers.setdefault(each.schema, []).append(each.number)
        return numbers


@dataclass(frozen=True, slots=True)
class Source:
    """A field of a schema version that a column holds.

    `rows` are the rows of that version in the table, None if they were not counted.
    """

    schema: str
    number: int
    field: str
    type: str
    rows: int | None


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column; `is_own` says that Penstock adds it, so that it has no field as its source.

    `is_unknown` says that a schema that was not seen may have the field.
    """

    name: str
    type: str
    sources: tuple[Source, ...] = ()
    is_own: bool = False
    is_unknown: bool = False

    @property
    def is_unexplained(self) -> bool:
        """Whether neither a schema version nor Penstock explains the column."""
        return not (self.sources or self.is_own or self.is_unknown)


@dataclass(frozen=True, slots=True)
class RowCount:
    """The rows that a schema version has in a table, by topic."""

    topic: str
    schema: str
    number: int
    rows: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the programs that write it, the rows of each schema version, and its columns.

    `kind` is iceberg, parquet or dynamodb, or empty if the table was not read.
    `rows` are None if they were not counted.
    """

    name: str
    consumer: str
    kind: str
    programs: tuple[str, ...]
    topics: tuple[str, ...]
    rows: tuple[RowCount, ...] | None = None
    columns: tuple[TableColumn, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotSeen:
    """A registry or a table that could not be seen, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Lineage:
    """The topics and tables of a name; `as_of` is the moment, None for now.

    `not_seen` are the registries and tables that could not be seen.
    """

    topics: tuple[Topic, ...]
    tables: tuple[Table, ...]
    as_of: datetime | None = None
    not_seen: tuple[NotSeen, ...] = ()

    def list_unexplained(self) -> Iterator[str]:
        """Yield the columns without a source, as TABLE.COLUMN."""
        for table in self.tables:
            for column in table.columns:
                if column.is_unexplained:
                    yield f"{table.name}.{column.name}"
