"""The plan of a staging job: which topics become which tables, and which tables are joined.

A topic belongs to one staged table. A driver table has dependencies: rows of other staged tables,
found by key. When all of them are staged, a row of the driver becomes a row of the final table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from penstock.errors import SchemaConflictError, SettingsError
from penstock.records import ADDED, DELETED, ORDER, Mode, Projection, RowShape, Tombstone

# The attribute, and column, with the time at which a row was staged first.
STAGING_TIME: Final = "staging_time"
_KEPT: Final = "the lake keeps every record"
_OF_EACH_ROW: Final = frozenset({STAGING_TIME, ORDER, DELETED, *ADDED})


class Role(StrEnum):
    """The part of a staged table in joins: rows of a driver table start them."""

    STAGING = "staging"
    DRIVER = "driver"


class StagingSink(StrEnum):
    """A kind of table that a staged table is written to."""

    DYNAMODB = "dynamodb"
    LAKE = "lake"


@dataclass(frozen=True, slots=True)
class Dependency:
    """A row of another staged table that a row of a driver needs.

    Attributes:
        table: the name of the staged table in the plan.
        key: for each field of that table's key, the field of the driver's row with its value.
        name: the attribute of the final row that holds the row of the dependency.
        optional: whether a driver's row that lacks one of these values needs no row.
    """

    table: str
    key: tuple[tuple[str, str], ...]
    name: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class StagedTable:
    """A table of rows from one or more topics.

    Attributes:
        name: its name in the plan, and in the names of the tables that it is written to.
        shape: the key, order and mode of its rows, by the names of columns.
        topics: its topics.
        pattern: a regular expression for whole names of topics, used if no table names the topic.
        columns: the fields that become columns, and their names.
        role: its part in joins.
        sinks: the kinds of tables that it is written to.
        dependencies: for a driver, the rows that each of its rows needs.
        final: for a driver, the name of the table of joined rows.
    """

    name: str
    shape: RowShape
    topics: tuple[str, ...] = ()
    pattern: str = ""
    columns: Projection = field(default_factory=Projection)
    role: Role = Role.STAGING
    sinks: frozenset[StagingSink] = frozenset({StagingSink.DYNAMODB})
    dependencies: tuple[Dependency, ...] = ()
    final: str | None = None

    @property
    def key_fields(self) -> tuple[str, ...]:
        """The fields of the table's partition key and sort key."""
        return (*self.shape.key, *self.shape.sort)


@dataclass(frozen=True, slots=True)
class StagingPlan:
    """The staged tables; each plan has passed `find_problems`."""

    tables: tuple[StagedTable, ...]

    def __post_init__(self) -> None:
        """Raise SettingsError if the tables contradict each other."""
        if problems := tuple(find_problems(dict(enumerate(self.tables)))):
            raise SettingsError(problems)

    def table(self, name: str) -> StagedTable:
        """Return the table of a name; a name that the plan lacks is a KeyError."""
        return {each.name: each for each in self.tables}[name]

    def by_topic(self, topic: str) -> StagedTable | None:
        """Return the table that names a topic, or the first one whose pattern matches it."""
        named = (each for each in self.tables if topic in each.topics)
        matching = (
            each for each in self.tables if each.pattern and re.fullmatch(each.pattern, topic)
        )
        return next(named, next(matching, None))

    def drivers(self) -> tuple[StagedTable, ...]:
        """Return the tables whose rows start joins."""
        return tuple(each for each in self.tables if each.role is Role.DRIVER)

    def find_driver(self, name: str) -> StagedTable | None:
        """Return the driver table of a name, or None if the plan has none."""
        return next((each for each in self.drivers() if each.name == name), None)

    def dependents(self, name: str) -> tuple[tuple[StagedTable, Dependency], ...]:
        """Return the drivers that depend on a table, each with the dependency."""
        return tuple(
            (driver, each)
            for driver in self.drivers()
            for each in driver.dependencies
            if each.table == name
        )


def find_problems(tables: Mapping[int, StagedTable], *, complete: bool = True) -> Iterator[str]:
    """Yield a message for each contradiction in tables, by their positions in the file.

    If the tables are not complete, a table that is missing is no problem.
    """
    if complete and not tables:
        yield "$.tables: found no table, expected at least one"
    names: dict[str, str] = {}
    topics: dict[str, str] = {}
    for at, table in tables.items():
        where = f"$.tables[{at}]"
        places = {f"{where}.name": table.name} | (
            {f"{where}.final": table.final} if table.final else {}
        )
        for place, name in places.items():
            if names.setdefault(name, place) != place:
                yield f"{place}: found {name!r}, which is also {names[name]}, expected another name"
        for topic in table.topics:
            if topics.setdefault(topic, where) != where:
                yield (
                    f"{where}.topics: found {topic!r}, which is also in {topics[topic]}, expected"
                    " each topic in one table"
                )
        yield from _table_problems(table, where)
        yield from _dependency_problems(table, where, list(tables.values()), complete)


def _table_problems(table: StagedTable, where: str) -> Iterator[str]:
    if not table.topics and not table.pattern:
        yield f"{where}: found neither topics nor topic_pattern, expected one of them or both"
    if not table.sinks:
        yield f"{where}.sinks: found none, expected dynamodb, lake or both"
    if table.shape.mode is not Mode.UPSERT:
        yield f"{where}: found rows that are appended, expected upserts by key"
    if StagingSink.DYNAMODB not in table.sinks:
        shape = table.shape
        if shape.tombstone is Tombstone.DELETE:
            yield f"{where}.tombstone: found delete without dynamodb, expected ignore: {_KEPT}"
        if shape.deleted_when:
            yield f"{where}.deleted_when: found it without dynamodb, expected none: {_KEPT}"
    yield from _column_problems(table, where)
    is_driver = table.role is Role.DRIVER
    if is_driver != bool(table.dependencies) or is_driver != bool(table.final):
        yield (
            f"{where}: found role {table.role}, {len(table.dependencies)} dependencies and"
            f" {f'final {table.final!r}' if table.final else 'no final'}, expected dependencies"
            " and final for a driver, and neither for another table"
        )
    if is_driver and table.sinks == {StagingSink.LAKE}:
        yield f"{where}.sinks: found a driver without dynamodb, expected it: joins read its rows"


def _column_problems(table: StagedTable, where: str) -> Iterator[str]:
    """Yield a problem for columns of one name, and for fields of the shape that are no column."""
    fields = (*table.columns.fields, *dict(table.columns.renames))
    try:
        columns = set(table.columns.columns(dict.fromkeys(fields)).values())
    except SchemaConflictError as error:
        yield f"{where}.columns: {error}"
        return
    if reserved := sorted(columns & _OF_EACH_ROW):
        yield (
            f"{where}.columns: found {reserved[0]!r}, which Penstock adds to each row, expected"
            " another name in rename"
        )
    unknown = [name for name, _ in table.columns.renames if table.columns.name(name) is None]
    for name in unknown:
        yield f"{where}.rename: found {name!r}, expected a field of columns"
    columns = _chosen_columns(table)
    if not columns:
        return
    shape = table.shape
    time = () if shape.event_time is None else (shape.event_time,)
    deleted = (shape.deleted_when.field,) if shape.deleted_when else ()
    parts = {"order": shape.order, "event_time": time, "deleted_when": deleted}
    if shape.key_format is None:  # else the fields are those of Kafka's keys
        parts = {"key": shape.key, "sort": shape.sort, **parts}
    for part, named in parts.items():
        for name in named:
            if name not in columns:
                yield (
                    f"{where}.{part}: found {name!r}, expected one of the columns"
                    f" {', '.join(sorted(columns))} (by its name after renaming)"
                )


def _dependency_problems(
    driver: StagedTable, where: str, tables: list[StagedTable], complete: bool
) -> Iterator[str]:
    for at, each in enumerate(driver.dependencies):
        place = f"{where}.dependencies[{at}]"
        yield from _name_problems(each, driver, place)
        yield from _own_key_problems(each, driver, place)
        table = next((other for other in tables if other.name == each.table), None)
        if table is not None:
            yield from _needed_problems(each, driver, table, place)
        elif complete:
            others = ", ".join(other.name for other in tables)
            yield f"{place}.table: found {each.table!r}, expected one of {others}"


def _name_problems(dependency: Dependency, driver: StagedTable, place: str) -> Iterator[str]:
    """Yield a problem for a name that another attribute of the final row has."""
    name, shape = dependency.name, driver.shape
    if [each.name for each in driver.dependencies].count(name) > 1:
        yield f"{place}.name: found {name!r} more than once, expected each name once"
    known = {*shape.table_key, *shape.key, *shape.sort, *shape.order, *_chosen_columns(driver)}
    if name in known.union(column for each in driver.dependencies for _, column in each.key):
        yield f"{place}.name: found {name!r}, which is a column of the driver too"
    if name in _OF_EACH_ROW:
        yield f"{place}.name: found {name!r}, which Penstock adds to each row"


def _own_key_problems(dependency: Dependency, driver: StagedTable, place: str) -> Iterator[str]:
    """Yield a problem for each column of the driver's row that is needed and not chosen."""
    columns = _chosen_columns(driver)
    for _, column in dependency.key if columns else ():
        if column not in columns:
            yield (
                f"{place}.key: found the column {column!r}, expected one of the driver's"
                f" columns {', '.join(sorted(columns))}"
            )


def _needed_problems(
    dependency: Dependency, driver: StagedTable, table: StagedTable, place: str
) -> Iterator[str]:
    """Yield a problem for a table whose rows the driver cannot need."""
    if table is driver:
        yield f"{place}.table: found the driver itself, expected another table"
    if StagingSink.DYNAMODB not in table.sinks:
        yield f"{place}.table: found {table.name!r}, which dynamodb lacks, expected it there"
    named = [name for name, _ in dependency.key]
    if sorted(named) != sorted(table.key_fields):
        yield (
            f"{place}.key: found {', '.join(named)}, expected the key of {table.name}:"
            f" {', '.join(table.key_fields)}"
        )


def _chosen_columns(table: StagedTable) -> set[str]:
    """Return the names of the columns if they are chosen and differ, else none."""
    try:
        return set(table.columns.columns(table.columns.fields).values())
    except SchemaConflictError:
        return set()
