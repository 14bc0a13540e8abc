"""What a new version of a schema means for each reader of its topics, and what to do about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from penstock.errors import SchemaConflictError
from penstock.operations import Programs, Reader, ReaderTable
from penstock.records import RowShape
from penstock.schemas import Schema, list_fields, merge_schemas
from penstock.tables import Growth, Struct, compare_columns, merge_columns, name_column, read_event

KEY_FIELD: Final = "KEY_FIELD"


class Action(StrEnum):
    """What the owner of a reader must do."""

    NONE = "none"
    SYNC = "sync"
    REPLAY = "replay"
    NEW_TABLE = "new table"
    RELEASE = "release first"


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect on one table of a program, or on the program; `columns` are those that change.

    `lost` are fields without which no record of the version can be a row.
    """

    consumer: str
    program: str
    table: str
    columns: tuple[str, ...]
    action: Action
    advice: str
    lost: tuple[str, ...] = ()


def list_effects(
    name: str, schema: Schema, merged: Sequence[Schema], old_readers: bool, programs: Programs
) -> tuple[Effect, ...]:
    """Return the effects of a new version on the readers of its topics.

    Args:
        name: the name of the schema.
        schema: the new version.
        merged: the merge of the versions before, if there are any.
        old_readers: whether programs with every version before can read the new records.
        programs: the readers, and what is known of them.
    """
    topics = programs.find_topics(name)
    version = _Version(name, schema, merged)
    found: list[Effect] = []
    for reader in programs.find(name):
        if reader.own_code:
            found.append(_affect_own_code(reader, old_readers))
            continue
        if reader.fields:
            found.append(_affect_fields(reader, version))
            continue
        tables = reader.choose_tables(name, topics)
        if tables is None:
            found.append(_affect_unrouted(reader, name))
            continue
        for table in tables:
            found.append(_affect_table(reader, table, version))
            found += _affect_rules(reader, table, version, programs)
    return tuple(found)


class _Version:
    """A new version of a schema, and the merge of those before."""

    def __init__(self, name: str, schema: Schema, merged: Sequence[Schema]) -> None:
        self.name = name
        self.fields = {each.json_name for each in list_fields(schema)}
        self._before = read_event(merged[0]) if merged else Struct()
        self._new = Struct()
        self._after: Struct | None = None
        try:
            self._new = read_event(merge_schemas([schema]))
            self._after = read_event(merge_schemas([*merged, schema]))
        except SchemaConflictError:
            pass

    def find_growth(self, table: ReaderTable) -> Growth | None:
        """Return how the columns of a table grow; None if none can hold all versions."""
        if self._after is None:
            return None
        try:
            before = merge_columns(Struct(), table.hold(self._before))
            return compare_columns(before, merge_columns(before, table.hold(self._after)))
        except SchemaConflictError:
            return None

    def list_gone(self, table: ReaderTable) -> list[str]:
        """Return the columns that a plan names, and whose fields the version drops."""
        if table.columns is None or not table.columns.fields:
            return []
        held = {field.name for field, _ in table.list_fields(self._new)}
        before = table.list_fields(self._before)
        return [column.field for field, column in before if field.name not in held]

    def list_columns(self, table: ReaderTable) -> set[str]:
        """Return the names of the columns that its records fill."""
        if table.has_changes or table.columns:
            return {column.field for _, column in table.list_fields(self._new)}
        return self.fields


def _affect_own_code(reader: Reader, old_readers: bool) -> Effect:
    if old_readers:
        action, advice = Action.NONE, "programs with any version before can read its records"
    else:
        action = Action.RELEASE
        advice = "a program that reads all records with one version needs this one first"
    return Effect(reader.consumer, reader.program, "", (), action, advice)


def _affect_unrouted(reader: Reader, name: str) -> Effect:
    advice = (
        f"the job has no table for {name}: add it to `writes` before the first record; records "
        "until then are dead letters, which a replay writes"
    )
    return Effect(reader.consumer, reader.program, "", (), Action.REPLAY, advice)


def _affect_fields(reader: Reader, version: _Version) -> Effect:
    lost = tuple(each for each in reader.fields if each not in version.fields)
    if lost:
        action = Action.RELEASE
        advice = f"it leaves out records without {', '.join(lost)}: change it first, or keep them"
    else:
        action, advice = Action.NONE, f"it reads {', '.join(reader.fields)} alone"
    return Effect(reader.consumer, reader.program, "", (), action, advice)


def _affect_table(reader: Reader, table: ReaderTable, version: _Version) -> Effect:
    lost = _list_lost(version.list_columns(table), table.shape)
    columns, action, advice = _choose_action(reader, table, version)
    if lost:
        action = Action.NEW_TABLE
        advice = (
            f"records have no {', '.join(lost)}, which the table needs, and become dead letters "
            "(unroutable): keep the field, or write them to a table with another key"
        )
    return Effect(reader.consumer, reader.program, table.name, columns, action, advice, lost)


def _choose_action(
    reader: Reader, table: ReaderTable, version: _Version
) -> tuple[tuple[str, ...], Action, str]:
    """Return the columns of a table that change, what to do, and why."""
    growth = version.find_growth(table)
    if growth is None:
        advice = "no column holds all versions: write these records to a table of their own"
        return (), Action.NEW_TABLE, advice
    gone = version.list_gone(table)
    columns = (*_describe_growth(growth), *(f"- {each}" for each in gone))
    action, advice = Action.NONE, "the job changes the table with the first batch that needs it"
    if gone:
        advice = f"its plan names {', '.join(gone)}, of which new rows have no value"
    elif not columns:
        advice = "its columns stay as they are"
    elif table.kind == "dynamodb":
        advice = "rows have the new values as attributes"
    elif table.kind == "parquet" and growth.rewritten:
        action = Action.NEW_TABLE
        advice = "no reader reads whole numbers of old files as doubles, and the job would stop"
    elif not reader.is_running:
        action = Action.SYNC
        advice = (
            f"its columns grow with the next run, or now with `penstock schema sync {version.name}`"
        )
    elif growth.rewritten:
        advice = "the job writes the column again with its next batch"
    return columns, action, advice


def _describe_growth(growth: Growth) -> Iterator[str]:
    for new in growth.added:
        path = f"{new.parent}.{new.column.name}" if new.parent else new.column.name
        yield f"+ {path} {new.column.type}"
    for changed in growth.widened:
        yield f"~ {changed.path} {changed.old} -> {changed.new}"
    for column in growth.rewritten:
        yield f"~ {column.name} {column.type} (written again)"


def _list_lost(has: Collection[str], shape: RowShape | None) -> tuple[str, ...]:
    """Return the fields of a row's key, time and order that no record has."""
    if shape is None:
        return ()
    needed = [shape.event_time, *shape.order]
    if shape.key_format is None:
        needed += [*shape.key, *shape.sort]
    return tuple(dict.fromkeys(field for field in needed if field and field not in has))


def _affect_rules(
    reader: Reader, table: ReaderTable, version: _Version, programs: Programs
) -> Iterator[Effect]:
    """Yield what changes for the rule of quality that limits nulls by column."""
    limits = programs.rules.get(table.name, {}) if table.kind == "lake" else {}
    pairs = (pair.strip().split("=", 1) for pair in limits.get("null-shares", "").split(","))
    shares = {pair[0].lower(): pair[1] for pair in pairs if len(pair) == 2}
    growth = version.find_growth(table) if limits else None
    added = [new.column.name for new in growth.added if not new.parent] if growth else []
    has = {name_column(each).lower() for each in version.list_columns(table)}
    gone = tuple(column for column in shares if column != "*" and column not in has)
    under = tuple(column for column in added if column.lower() not in shares and "*" in shares)
    for columns, advice in (
        (gone, "rows of this version have no such field, and the rule does not count them"),
        (under, f"the limit of other columns, {shares.get('*')}, is for the new ones too"),
    ):
        if columns:
            program = "quality rule null-shares"
            yield Effect(reader.consumer, program, table.name, columns, Action.NONE, advice)
