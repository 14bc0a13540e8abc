"""The programs that write and read topics, and the tables that they fill."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from penstock.records import Projection, RowShape
from penstock.schemas import avro_name
from penstock.tables import TABLE, Column, Struct, mark_field

_VALUE: Final = "-value"  # of the schema of a topic's values, as clients of registries name it
_ADDED_FIELDS: Final = "__"  # which Debezium adds to a flattened record


@dataclass(frozen=True, slots=True)
class ReaderTable:
    """A table, and what of the records it holds.

    Attributes:
        kind: that of its sink: lake, parquet or dynamodb.
        name: its name, DATABASE.TABLE of the catalog or that of a table of DynamoDB.
        shape: the key and the order of its rows; None if the outputs do not tell.
        topics: the topics of its records; None for all that the program reads.
        columns: the fields that become columns, and their names; None for all of them.
        inside: the attribute that holds these columns; empty for the table itself.
        has_changes: whether the records are changes of rows, as Debezium writes them.
        made_of: for a table of results, the fields that each column is computed of.
    """

    kind: str
    name: str
    shape: RowShape | None = None
    topics: frozenset[str] | None = None
    columns: Projection | None = None
    inside: str = ""
    has_changes: bool = False
    made_of: Mapping[str, tuple[str, ...]] | None = None

    @property
    def own(self) -> frozenset[str]:
        """The columns that Penstock adds under names without an underscore in front."""
        constant = self.columns.constant if self.columns else ""
        return frozenset(filter(None, [constant]))

    def takes(self, topics: Collection[str]) -> bool:
        """Return whether it holds records of one of the topics."""
        return self.topics is None or not self.topics.isdisjoint(topics)

    def list_fields(self, event: Struct) -> Iterator[tuple[Column, Column]]:
        """Yield the fields of events that become columns, each with that field of the table."""
        for each in _read_row(event) if self.has_changes else event.columns:
            if self.columns is None:
                yield each, each
            elif (name := self.columns.name(each.field)) is not None:
                avro = avro_name(name)
                yield each, replace(each, name=avro, comment=mark_field(avro, name))

    def hold(self, event: Struct) -> Struct:
        """Return the fields of events as the table has them; none of a table of results."""
        if self.made_of is not None:
            return Struct()
        held = Struct(tuple(column for _, column in self.list_fields(event)))
        return Struct((Column(self.inside, held),)) if self.inside else held


def _read_row(event: Struct) -> Iterator[Column]:
    """Yield the fields of the rows that changes have: envelopes, flattened records, or both."""
    after = event.find("after")
    if event.find("source") and after and isinstance(after.type, Struct):
        yield from after.type.columns
    else:
        yield from (each for each in event.columns if not each.name.startswith(_ADDED_FIELDS))


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that reads topics, or tables that other programs fill.

    Attributes:
        consumer: the consumer whose program it is.
        program: its kind and name.
        topics: the topics that it reads.
        tables: the tables that it fills.
        routes: the tables by schema; None if one holds every schema.
        shapes: the shapes of rows by table.
        is_running: whether it runs all the time.
        own_code: whether it may read all records with one version of a schema, as no program of
            Penstock does.
        reads: the tables that it reads in place of topics.
        fields: the fields that it reads; none if it reads all.
    """

    consumer: str
    program: str
    topics: frozenset[str] = frozenset()
    tables: tuple[ReaderTable, ...] = ()
    routes: Mapping[str, str] | None = None
    shapes: Mapping[str, RowShape] = field(default_factory=dict)
    is_running: bool = True
    own_code: bool = False
    reads: frozenset[str] = frozenset()
    fields: tuple[str, ...] = ()

    def choose_tables(self, schema: str, topics: Collection[str]) -> tuple[ReaderTable, ...] | None:
        """Return the tables that hold the records of a schema in topics; None without a route."""
        if self.routes is None:
            return tuple(each for each in self.tables if each.takes(topics))
        if schema not in self.routes:
            return None
        table = self.routes[schema]
        shape = self.shapes.get(table)
        return tuple(
            replace(each, name=each.name.replace(TABLE, table), shape=shape or each.shape)
            for each in self.tables
        )


@dataclass(frozen=True, slots=True)
class Producer:
    """A producer function: its topic, its schema, and the most versions of that, if it says so."""

    program: str
    topic: str
    schema: str
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """The topics that the Kafka users of a consumer's programs may read and write."""

    consumer: str
    program: str
    users: tuple[str, ...]
    reads: frozenset[str]
    writes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Account:
    """The account of a consumer's tables, and their region."""

    id: str
    region: str


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of both accounts: who reads and writes which topics, and the rules of tables.

    `accounts` are those of consumers, and `brokers` the bootstrap servers, empty if no output
    has them.
    """

    readers: tuple[Reader, ...] = ()
    rules: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    producers: tuple[Producer, ...] = ()
    grants: tuple[Grant, ...] = ()
    accounts: Mapping[str, Account] = field(default_factory=dict)
    brokers: str = ""

    @property
    def budgets(self) -> dict[str, int]:
        """The most versions of each schema, where a producer has a limit."""
        return {each.schema: each.budget for each in self.producers if each.budget is not None}

    def find_topics(self, schema: str) -> frozenset[str]:
        """Return the topics of a schema: those of its producers, else that of its name."""
        named = frozenset(each.topic for each in self.producers if each.schema == schema)
        return named or frozenset({schema, schema.removesuffix(_VALUE)})

    def find(self, schema: str) -> tuple[Reader, ...]:
        """Return the readers of the topics of a schema, then those of the tables with its rows."""
        topics = self.find_topics(schema)
        direct = tuple(each for each in self.readers if each.topics & topics)
        filled = {
            (each.consumer, table.name)
            for each in direct
            for table in each.choose_tables(schema, topics) or ()
        }
        return (*direct, *(each for each in self.readers if self._reads_any(each, filled)))

    @staticmethod
    def _reads_any(reader: Reader, filled: Collection[tuple[str, str]]) -> bool:
        return any((reader.consumer, name) in filled for name in reader.reads)
