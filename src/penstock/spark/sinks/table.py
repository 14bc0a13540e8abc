"""A table of a query: which records it takes, and the sinks that its rows go to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.records import Projection
from penstock.spark.sinks.base import Sink


@dataclass(frozen=True, slots=True)
class Route:
    """The records of a table: all, those of one schema name, or those of topics.

    Attributes:
        schema: the name of a schema.
        topics: names of topics.
        pattern: a regular expression for whole names of topics, used if no table names the topic.
    """

    schema: str | None = None
    topics: tuple[str, ...] = ()
    pattern: str = ""

    @property
    def by_topic(self) -> bool:
        """Return whether topics decide which records the table gets, and not a schema name."""
        return bool(self.topics or self.pattern)

    def __str__(self) -> str:
        """Return the topics and the pattern."""
        return " ".join([*self.topics, self.pattern]).strip()


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a query.

    Tables by topic have versions, a merge and a ledger of their own, as if a query read only
    their topics. Tables by schema name share versions, merge and ledger.

    Attributes:
        sinks: where its rows go; they are written at once.
        route: the records that it takes; those of one query all go by topic, or none does.
        name: its name, for tables by route.
        columns: the fields that become columns; without it, all do.
        comes_last: whether its rows are written after those of other tables.
    """

    sinks: tuple[Sink, ...]
    route: Route = field(default_factory=Route)
    name: str = ""
    columns: Projection | None = None
    comes_last: bool = False

    @property
    def reads_records(self) -> bool:
        """Return whether its one sink reads records, so that nothing is decoded to columns."""
        return len(self.sinks) == 1 and self.sinks[0].capabilities.reads_records

    @property
    def shares_job(self) -> bool:
        """Return whether a job that has other tables too may write the files of its one sink."""
        return len(self.sinks) == 1 and self.sinks[0].capabilities.shares_job

    @property
    def deletes(self) -> bool:
        """Return whether one of its sinks deletes the rows of records without a value."""
        return any(each.capabilities.deletes for each in self.sinks)


@dataclass(frozen=True, slots=True)
class TableGroup:
    """Tables that share versions and a ledger: one by topic, or all that do not go by topic."""

    name: str  # of the table by topic; empty for the others
    tables: Mapping[str, Table]  # by schema name; the lone table of all records is named ""

    @property
    def is_routed(self) -> bool:
        """Return whether records go to tables by their schemas' names."""
        return "" not in self.tables

    @property
    def columns(self) -> Projection | None:
        """Return the columns of a table by topic."""
        return next(iter(self.tables.values())).columns

    @property
    def reads_records(self) -> bool:
        """Return whether nothing is decoded to columns for any of its tables."""
        return all(each.reads_records for each in self.tables.values())

    @property
    def shares_job(self) -> bool:
        """Return whether the rows of all its tables may be written in one job with others."""
        return all(each.shares_job for each in self.tables.values())

    @property
    def comes_last(self) -> bool:
        """Return whether this group is written after the other groups."""
        return any(each.comes_last for each in self.tables.values())


def group_tables(tables: Sequence[Table]) -> list[TableGroup]:
    """Return the groups of a query's tables, in their order."""
    groups = [TableGroup(each.name, {"": each}) for each in tables if each.route.by_topic]
    others = {each.route.schema or "": each for each in tables if not each.route.by_topic}
    return [*groups, *([TableGroup("", others)] if others else [])]


def describe_routes(tables: Sequence[Table]) -> dict[str, str]:
    """Return the table of each schema name, or the topics of each table, as text.

    A batch that is written again must have the same routes.
    """
    return {
        each.route.schema or each.name: each.name if each.route.schema else str(each.route)
        for each in tables
        if each.route.by_topic or each.route.schema
    }


def find_table(tables: Sequence[Table], topic: str) -> str | None:
    """Return the name of the table that names a topic, or the first whose pattern matches it."""
    named = (each.name for each in tables if topic in each.route.topics)
    matching = (
        each.name
        for each in tables
        if each.route.pattern and re.fullmatch(each.route.pattern, topic)
    )
    return next(named, next(matching, None))
