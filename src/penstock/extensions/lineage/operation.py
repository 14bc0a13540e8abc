"""The lineage of a schema, a topic, a table or a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from penstock.errors import OperationError, SinkError
from penstock.extensions.lineage.columns import explain_columns
from penstock.extensions.lineage.model import (
    Lineage,
    NotSeen,
    RowCount,
    Table,
    Topic,
    Use,
    Version,
    Writer,
)
from penstock.extensions.lineage.stored import StoredTable, Tables
from penstock.extensions.lineage.versions import KnownVersion, Versions
from penstock.operations import Programs, Reader, ReaderTable
from penstock.progress import ReportProgress, ignore_progress

_SHOWN_NAMES: Final = 20


@dataclass(frozen=True, slots=True)
class _Written:
    """A table with a program that writes it, and the topics of the records."""

    reader: Reader
    table: ReaderTable
    topics: frozenset[str]
    schemas: frozenset[str]

    @property
    def place(self) -> tuple[str, str]:
        """The consumer whose table it is, and its name."""
        return self.reader.consumer, self.table.name


def trace_lineage(
    what: str,
    programs: Programs,
    versions: Versions,
    tables: Tables,
    *,
    report: ReportProgress = ignore_progress,
) -> Lineage:
    """Return where the records of topics come from and where they go.

    Args:
        what: a schema, a topic, a table, or TABLE.COLUMN; all of them if it is empty.
        programs: those that write and read topics.
        versions: the versions of schemas.
        tables: the tables; those of consumers in other accounts are not read.
        report: called with the number of tables that are read.

    Raises:
        OperationError: no schema, topic, table or column has this name.
    """
    schemas = {topic: _find_schemas(topic, programs, versions) for topic in _list_topics(programs)}
    everything = list(_list_written(schemas, programs))
    chosen = _choose(what, schemas, everything)
    traced: list[Table] = []
    groups: dict[tuple[str, str], list[_Written]] = {each.place: [] for each in chosen.written}
    for each in everything:  # a column may have its source in a topic that was not chosen
        if each.place in groups:
            groups[each.place].append(each)
    not_seen: dict[str, str] = {}
    for (_, name), written in groups.items():
        report("tables", len(traced), len(groups))
        stored, why = _read_table(written[0], programs, tables)
        not_seen |= {name: why} if why else {}
        traced.append(_trace_table(written, stored, versions, chosen.column))
    topics = tuple(
        _trace_topic(topic, schemas[topic], programs, versions) for topic in chosen.topics
    )
    unseen = tuple(NotSeen(*each) for each in (versions.not_seen | not_seen).items())
    return Lineage(topics, tuple(traced), versions.as_of, unseen)


def _read_table(written: _Written, programs: Programs, tables: Tables) -> tuple[StoredTable, str]:
    """Return a table, or why it cannot be read."""
    account = programs.accounts.get(written.reader.consumer)
    try:
        if account is None or account.id == tables.account_id:
            return tables.read(written.table.kind, written.table.name), ""
        why = f"it is in the account {account.id}"
    except (OperationError, SinkError) as error:
        why = str(error)
    return StoredTable("", notes=(f"it was not read: {why}",)), why


def _list_topics(programs: Programs) -> list[str]:
    names = {each.topic for each in programs.producers}
    for reader in programs.readers:
        names |= reader.topics
    return sorted(names)


def _find_schemas(topic: str, programs: Programs, versions: Versions) -> tuple[str, ...]:
    """Return the schemas of a topic: those that its producers name, else those of its name."""
    named = dict.fromkeys(each.schema for each in programs.producers if each.topic == topic)
    return tuple(named) or versions.find_names(topic)


def _list_written(schemas: dict[str, tuple[str, ...]], programs: Programs) -> Iterator[_Written]:
    """Yield what programs write, each with the topics and schemas of its records."""
    of_topics = [each for reader in programs.readers for each in _list_filled(reader, schemas)]
    yield from of_topics
    for reader in programs.readers:
        read = [each for each in of_topics if _reads(reader, each)]
        for table in reader.tables if read else ():
            topics = _join_topics(read)
            yield _Written(reader, table, frozenset(topics), _join_schemas(read))


def _reads(reader: Reader, written: _Written) -> bool:
    consumer, name = written.place
    return reader.consumer == consumer and name in reader.reads


def _list_filled(reader: Reader, schemas: dict[str, tuple[str, ...]]) -> Iterator[_Written]:
    """Yield the tables that a program fills from its topics."""
    found: list[tuple[ReaderTable, set[str], set[str]]] = []

    def add(table: ReaderTable, topics: Iterable[str], schema: str) -> None:
        known = next((each for each in found if each[0] == table), None)
        if known is None:
            known = (table, set(), set())
            found.append(known)
        known[1].update(topics)
        known[2].add(schema)

    for topic in sorted(reader.topics):
        for schema in schemas.get(topic, ()):
            for table in reader.choose_tables(schema, {topic}) or ():
                add(table, {topic}, schema)
    for schema in reader.routes or ():  # a schema that no topic is known to have
        for table in reader.choose_tables(schema, reader.topics) or ():
            if not any(table == each and schema in names for each, _, names in found):
                add(table, reader.topics, schema)
    for table, topics, names in found:
        yield _Written(reader, table, frozenset(topics), frozenset(names))


@dataclass(frozen=True, slots=True)
class _Chosen:
    topics: tuple[str, ...]
    written: tuple[_Written, ...]
    column: str = ""


def _choose(what: str, schemas: dict[str, tuple[str, ...]], written: Sequence[_Written]) -> _Chosen:
    """Return the tables of a name and their topics, or its topics and their tables."""
    if not what:
        return _Chosen(tuple(schemas), tuple(written))
    tables = {each.table.name for each in written}
    names = (what, *sorted(each for each in tables if what.startswith(f"{each}.")))
    if name := next((each for each in names if each in tables), ""):
        of_table = tuple(each for each in written if each.table.name == name)
        return _Chosen(_join_topics(of_table), of_table, what[len(name) + 1 :])
    topics = frozenset(each for each, names in schemas.items() if what == each or what in names)
    if not topics:
        raise _name_known(what, {*schemas, *chain.from_iterable(schemas.values()), *tables})
    is_schema = what not in schemas
    kept = (
        each for each in written if (what in each.schemas if is_schema else each.topics & topics)
    )
    return _Chosen(tuple(sorted(topics)), tuple(kept))


def _join_topics(written: Iterable[_Written]) -> tuple[str, ...]:
    return tuple(sorted(frozenset[str]().union(*(each.topics for each in written))))


def _join_schemas(written: Iterable[_Written]) -> frozenset[str]:
    return frozenset[str]().union(*(each.schemas for each in written))


def _name_known(what: str, names: Iterable[str]) -> OperationError:
    known = sorted(names)
    more = f" or {len(known) - _SHOWN_NAMES:,} more" if len(known) > _SHOWN_NAMES else ""
    shown = ", ".join(known[:_SHOWN_NAMES]) or "none: the outputs name no topic"
    return OperationError(
        f"found no schema, topic or table {what} in the outputs, expected one of {shown}{more}"
    )


def _trace_table(
    written: Sequence[_Written], stored: StoredTable, versions: Versions, column: str
) -> Table:
    first = written[0]
    rows, strangers, notes = _count_rows(stored, versions)
    filled = list(_list_versions(written, versions))
    known = [version for version, _ in filled]
    columns = explain_columns(
        stored.columns,
        [*filled, *((each, first.table) for each in strangers if each not in known)],
        rows,
        is_complete=not versions.not_seen,
    )
    if column:
        columns = tuple(each for each in columns if each.name == column)
        if not columns and stored.columns:
            known_names = ", ".join(each.name for each in stored.columns[:_SHOWN_NAMES])
            raise OperationError(
                f"table {first.table.name} has no column {column}, expected one of {known_names}"
            )
    return Table(
        first.table.name,
        first.reader.consumer,
        stored.kind,
        tuple(dict.fromkeys(each.reader.program for each in written)),
        _join_topics(written),
        rows,
        columns,
        (*stored.notes, *_list_unmarked(first.table, stored), *notes),
    )


def _list_versions(
    written: Sequence[_Written], versions: Versions
) -> Iterator[tuple[KnownVersion, ReaderTable]]:
    """Yield the versions whose records a table may have, with what it holds of each."""
    for name in sorted(_join_schemas(written)):
        for version in versions.read(name):
            held: list[ReaderTable] = []
            for each in written:
                if name in each.schemas and each.table not in held:
                    held.append(each.table)
                    yield version, each.table


def _list_unmarked(table: ReaderTable, stored: StoredTable) -> list[str]:
    """Return the note on snapshots without a marker, which rows that are merged never have."""
    is_merged = table.has_changes or table.made_of is not None
    return [stored.unmarked] if stored.unmarked and not is_merged else []


def _count_rows(
    stored: StoredTable, versions: Versions
) -> tuple[tuple[RowCount, ...] | None, list[KnownVersion], list[str]]:
    """Return the rows of each version, these versions, and notes on rows without a known version.

    The rows are None if they were not counted.
    """
    if stored.rows is None:
        return None, [], []
    counted: list[RowCount] = []
    found: list[KnownVersion] = []
    notes: list[str] = []
    for (topic, key), rows in sorted(stored.rows.items()):
        version = versions.find(key)
        if version is None:
            seen = " that was seen" if versions.not_seen else ""
            said = f"{rows:,} rows of {topic} name the schema {key}, which no registry{seen} has"
            notes.append(said)
            continue
        counted.append(RowCount(topic, version.schema, version.number, rows))
        found.append(version)
    counted.sort(key=lambda each: (each.topic, each.schema, each.number))
    return tuple(counted), found, notes


def _trace_topic(
    name: str, schemas: Sequence[str], programs: Programs, versions: Versions
) -> Topic:
    writers = (
        Writer(each.program, each.schema) for each in programs.producers if each.topic == name
    )
    known = [version for schema in schemas for version in versions.read(schema)]
    registered = dict.fromkeys(each.schema for each in known)
    uses = []
    for reader in programs.readers:
        if name in reader.topics:
            tables = _choose_names(reader, registered, name)
            uses.append(Use(reader.consumer, reader.program, tables, reader.own_code))
    uses += _list_uses_of_tables(uses, programs)
    may_read = (
        f"{each.consumer}, {each.program}" for each in programs.grants if name in each.reads
    )
    may_write = (
        f"{each.consumer}, {each.program}" for each in programs.grants if name in each.writes
    )
    return Topic(
        name,
        tuple(writers),
        tuple(Version(each.schema, each.number, each.registered_at) for each in known),
        tuple(uses),
        tuple(sorted(may_write)),
        tuple(sorted(may_read)),
    )


def _choose_names(reader: Reader, schemas: Iterable[str], topic: str) -> tuple[str, ...]:
    tables = chain.from_iterable(reader.choose_tables(each, {topic}) or () for each in schemas)
    return tuple(dict.fromkeys(table.name for table in tables))


def _list_uses_of_tables(uses: Sequence[Use], programs: Programs) -> Iterator[Use]:
    """Yield the programs that read tables which others fill with the records of a topic."""
    filled = {(each.consumer, table) for each in uses for table in each.tables}
    for reader in programs.readers:
        read = tuple(sorted(each for each in reader.reads if (reader.consumer, each) in filled))
        if read:
            names = tuple(each.name for each in reader.tables)
            yield Use(reader.consumer, reader.program, names, reads=read)
