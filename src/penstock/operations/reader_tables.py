"""The tables that staging jobs and jobs of change data capture fill."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from penstock.operations.programs import ReaderTable
from penstock.records import Projection, make_staged_shape
from penstock.tables import TABLE, name_table

STAGING_TIME: Final = "staging_time"  # a column of each staged row
_CHANGED: Final = {
    "--current-table": "lake",
    "--history-table": "lake",
    "--current-dynamodb-table": "dynamodb",
}


def list_staged(
    plan: Sequence[Mapping[str, Any]], names: Mapping[str, str], topics: frozenset[str]
) -> Iterator[ReaderTable]:
    """Yield the tables of a staging plan, its final tables too.

    Args:
        plan: the tables, with the names of attributes that docs/staging.md has.
        names: the names of tables by kind, with a placeholder for the name in the plan.
        topics: the topics that the job may read.
    """
    named = {topic for table in plan for topic in table["topics"]}
    free = sorted(topics - named)
    staged: dict[str, ReaderTable] = {}
    for table in plan:
        own = {each for each in free if re.fullmatch(table.get("topic_pattern", ""), each)}
        free = [each for each in free if each not in own]  # the first pattern has it
        staged[table["name"]] = ReaderTable(
            "",
            table["name"],
            make_staged_shape(table),
            frozenset({*table["topics"], *own}),
            _make_projection(table),
        )
        for sink in table.get("sinks", ["dynamodb"]):
            yield _place(staged[table["name"]], names, sink, table["name"])
    for table in plan:
        if final := table.get("final"):
            yield _place(staged[table["name"]], names, "dynamodb", final)
            for needed in table.get("dependencies", ()):
                inside = needed.get("name", needed["table"])
                joined = replace(staged[needed["table"]], shape=None, inside=inside)
                yield _place(joined, names, "dynamodb", final)


def _place(table: ReaderTable, names: Mapping[str, str], kind: str, name: str) -> ReaderTable:
    return replace(table, kind=kind, name=names[kind].replace(TABLE, name))


def _make_projection(table: Mapping[str, Any]) -> Projection:
    return Projection(
        tuple(table["columns"]),
        tuple(table.get("rename", {}).items()),
        table["lower_case"],
        constant=STAGING_TIME,
    )


def list_changed(flags: Mapping[str, str], topics: frozenset[str]) -> Iterator[ReaderTable]:
    """Yield the tables of a job of change data capture, by its flags: some for each topic."""
    for topic in sorted(topics):
        for flag, kind in _CHANGED.items():
            if flag in flags:
                name = flags[flag].replace(TABLE, name_table(topic))
                yield ReaderTable(kind, name, topics=frozenset({topic}), has_changes=True)
