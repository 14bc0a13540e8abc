"""Lineage as text, with a line for each column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from penstock.extensions.lineage.model import Lineage, Source, Table, TableColumn, Topic, Use

_KINDS: Final = {
    "iceberg": "a table of Iceberg",
    "parquet": "a table of Parquet files",
    "dynamodb": "a table of DynamoDB",
    "": "a table",
}


def list_lines(lineage: Lineage) -> Iterator[str]:
    """Yield the topics, then the tables with the sources of their columns."""
    for topic in lineage.topics:
        yield from _list_topic(topic)
    for table in lineage.tables:
        yield from _list_table(table)
    for each in lineage.not_seen:
        yield f"not seen: {each.what}: {each.why}"
    lost = list(lineage.list_unexplained())
    yield f"columns without a source: {', '.join(lost) or 'none'}"


def _list_topic(topic: Topic) -> Iterator[str]:
    yield f"{topic.name}, a topic"
    writers = ", ".join(each.program for each in topic.writers)
    yield f"  written by  {writers or 'no producer of the outputs'}"
    yield f"  schemas     {_describe_versions(topic) or 'none that a registry has'}"
    for use in topic.uses:
        yield f"  read by     {_describe_use(use)}"
    if topic.may_read:
        yield f"  may read    {'; '.join(topic.may_read)}"
    if topic.may_write:
        yield f"  may write   {'; '.join(topic.may_write)}"


def _describe_versions(topic: Topic) -> str:
    numbers = topic.group_versions().items()
    return "; ".join(f"{schema} {join_numbers(found)}" for schema, found in numbers)


def _describe_use(use: Use) -> str:
    into = f" -> {', '.join(use.tables)}" if use.tables else ""
    read = f" from {', '.join(use.reads)}" if use.reads else ""
    return f"{use.consumer}, {use.program}{read}{into}"


def _list_table(table: Table) -> Iterator[str]:
    programs = " and ".join(table.programs)
    yield f"{table.name}, {_KINDS[table.kind]}, by {table.consumer}, {programs}"
    if table.rows is not None:
        counts = "; ".join(
            f"{each.rows:,} of {each.schema} {each.number} from {each.topic}" for each in table.rows
        )
        yield f"  rows: {counts or 'none'}"
    for note in table.notes:
        yield f"  {note}"
    shown = [each for each in table.columns if not each.is_own]
    names = max((len(each.name) for each in shown), default=0)
    types = max((len(each.type) for each in shown), default=0)
    for column in shown:
        yield f"  {column.name:<{names}}  {column.type:<{types}}  <- {describe_sources(column)}"
    own = [each.name for each in table.columns if each.is_own]
    if own:
        yield f"  of Penstock: {', '.join(own)}"


def describe_sources(column: TableColumn) -> str:
    """Return the fields that a column holds, and the versions of which the table has no rows."""
    if column.is_unexplained:
        return "no source: no schema version has such a field"
    if column.is_unknown:
        return "not known: not every registry was seen"
    groups: dict[tuple[str, str, str], list[Source]] = {}
    for each in column.sources:
        groups.setdefault((each.schema, each.field, each.type), []).append(each)
    return "; ".join(
        f"{schema} {_describe_numbers(sources)}: {field} {type_}"
        for (schema, field, type_), sources in groups.items()
    )


def _describe_numbers(sources: Sequence[Source]) -> str:
    used = [each.number for each in sources if each.rows != 0]
    unused = [each.number for each in sources if each.rows == 0]
    parts = [join_numbers(used)] if used else []
    if unused:
        parts.append(f"{join_numbers(unused)} (no rows)")
    return ", ".join(parts)


def join_numbers(numbers: Iterable[int]) -> str:
    """Return numbers with runs as FIRST-LAST."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
