"""The queries: SQL of Athena, each with one scan of the columns that it names.

| query       | rows of its result                                                         |
| ----------- | -------------------------------------------------------------------------- |
| profile     | a row for each day, each partition and each schema version, in one scan    |
| coordinates | a row for each partition: offsets, repeated records, and older late events |
| gaps        | a row for each run of missing offsets, asked only where offsets are missing |
| parked      | a row for each parked record of these partitions, asked with `gaps`        |
"""

# ruff: noqa: S608 - every name and text in these queries is quoted

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from penstock.aws import quote_identifier
from penstock.extensions.quality._table import Column
from penstock.tables import EVENT_TIME

Place = tuple[str, int]  # a topic and a partition

# The kinds of rows of a profile, as grouping() numbers them: a bit for each column that is missing.
DAYS: Final = 0b011
PARTITIONS: Final = 0b101
VERSIONS: Final = 0b110

# Runs of missing offsets that an answer lists, with an equal share for each partition.
MOST_GAPS: Final = 50_000
# A select list of Trino may have more, but its plan is slow to compile.
COLUMNS_AT_ONCE: Final = 300
# Bounds of delays, in milliseconds: a histogram that shows seconds and weeks.
BOUNDS: Final = (-60_000, 0, 1_000, 60_000, 3_600_000, 86_400_000, 604_800_000)
_PLACE: Final = '"_topic", "_kafka_partition"'
_DELAY: Final = f'date_diff(\'millisecond\', "{EVENT_TIME}", "_kafka_timestamp")'


@dataclass(frozen=True, slots=True)
class Window:
    """The table, and the moment from which its rows are checked; None for all of them.

    `earliest` is the least event time of a record that Kafka received since then.
    """

    table: str
    since: datetime | None = None
    earliest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """The offsets of a partition from the least to the greatest that are checked."""

    least: int
    greatest: int


def write_profile(
    window: Window, columns: Sequence[Column], late_ms: int, future_ms: int
) -> list[str]:
    """Return the query of the profile, or several with a part of the columns each.

    In a row, `n` is the number of rows, and `v0`, `v1`... those that have a value in each column.
    """
    parts = [
        columns[start : start + COLUMNS_AT_ONCE]
        for start in range(0, max(1, len(columns)), COLUMNS_AT_ONCE)
    ]
    return [_write_profile(window, part, late_ms, future_ms) for part in parts]


def _write_profile(window: Window, columns: Sequence[Column], late_ms: int, future_ms: int) -> str:
    limits = [f'"_delay" < {BOUNDS[0]}']
    limits += [f'"_delay" >= {low} AND "_delay" < {high}' for low, high in pairwise(BOUNDS)]
    limits += [f'"_delay" >= {BOUNDS[-1]}']
    of_window = '"_offset"'
    if window.since:
        of_window = f'CASE WHEN "_kafka_timestamp" >= {_moment(window.since)} THEN "_offset" END'
    measures = {
        "kind": 'grouping("_day", "_topic", "_schema_id")',
        "day": '"_day"',
        "topic": '"_topic"',
        "part": '"_kafka_partition"',
        "schema_id": '"_schema_id"',
        "schema_version": 'max("_schema_version")',
        "n": "count(*)",
        "first_offset": f"min({of_window})",
        "last_offset": 'max("_offset")',
        "late": f'count_if("_delay" > {late_ms})',
        "future": f'count_if("_delay" < -{future_ms})',
        **{f"d{at}": f"count_if({limit})" for at, limit in enumerate(limits)},
        **{f"v{at}": _count(each) for at, each in enumerate(columns)},
    }
    listed = ",\n  ".join(f'{measure} AS "{name}"' for name, measure in measures.items())
    return (
        "WITH seen AS (\n"
        f'  SELECT *, CAST("{EVENT_TIME}" AS date) AS "_day",\n'
        f'    {_DELAY} AS "_delay"\n'
        f"  FROM {_table(window.table)}{_where(window.since)}\n)\n"
        f"SELECT\n  {listed}\nFROM seen\n"
        f'GROUP BY GROUPING SETS (("_day"), ({_PLACE}), ("_schema_id"))'
    )


def write_coordinates(window: Window, spans: Mapping[Place, Span], late_ms: int) -> str:
    """Return the query of offsets: records by topic, partition, offset and Kafka's timestamp.

    A recreated topic has the offsets of the old one again, with other timestamps. The offsets are
    those of the spans, and greater ones that Kafka received since the window's moment. `earlier`
    are the rows that it received since then of events before it, `late` those that are late.
    """
    moment = window.since and _moment(window.since)
    is_new = f'"_kafka_timestamp" >= {moment}' if moment else "true"
    is_earlier = f'"{EVENT_TIME}" < {moment} AND {is_new}' if moment else "false"
    counts = '"_offset" >= "low"'
    return (
        "WITH seen AS (\n"
        f'  SELECT {_PLACE}, "_offset", "_kafka_timestamp", {is_new} AS "_new",\n'
        f'    {is_earlier} AS "_earlier", {_DELAY} > {late_ms} AS "_late"\n'
        f"  FROM {_table(window.table)}{_where(window.earliest)}\n"
        "), copies AS (\n"
        f'  SELECT {_PLACE}, "low", "_offset", "_kafka_timestamp", count(*) AS "n",\n'
        '    count_if("_earlier") AS "earlier", count_if("_earlier" AND "_late") AS "late"\n'
        f"  FROM seen LEFT JOIN {_values(spans)}\n"
        '    ON "_topic" = "of_topic" AND "_kafka_partition" = "of_part"\n'
        '  WHERE "_offset" BETWEEN "low" AND "high" OR "_new"\n'
        f'  GROUP BY {_PLACE}, "low", "_offset", "_kafka_timestamp"\n'
        "), offsets AS (\n"
        f'  SELECT {_PLACE}, "low", "_offset", sum("n") AS "n", sum("n" - 1) AS "repeated",\n'
        '    sum("earlier") AS "earlier", sum("late") AS "late"\n'
        f'  FROM copies GROUP BY {_PLACE}, "low", "_offset"\n)\n'
        f'SELECT "_topic" AS "topic", "_kafka_partition" AS "part",\n'
        f'  sum("n") FILTER (WHERE {counts}) AS "n", count_if({counts}) AS "offsets",\n'
        f'  max("_offset") FILTER (WHERE {counts}) AS "last_offset",\n'
        f'  sum("repeated") FILTER (WHERE {counts}) AS "repeated",\n'
        f'  min("_offset") FILTER (WHERE {counts} AND "repeated" > 0) AS "first_repeated",\n'
        '  sum("earlier") AS "earlier", sum("late") AS "late"\n'
        f"FROM offsets GROUP BY {_PLACE}"
    )


def write_gaps(window: Window, beside: Iterable[str], spans: Mapping[Place, Span]) -> str:
    """Return the query of the runs of offsets that neither the table has nor those beside it.

    It lists the first runs of each partition, with the number of all its offsets.
    """
    tables = (window.table, *beside)
    selects = "\n  UNION ALL\n".join(
        f'  SELECT {_PLACE}, "_offset" FROM {_table(each)} JOIN {_spans(spans)}'
        f"{_where(window.earliest)}"
        for each in tables
    )
    return (
        f"WITH rows_of AS (\n{selects}\n), offsets AS (\n"
        f'  SELECT DISTINCT {_PLACE}, "_offset" FROM rows_of\n), pairs AS (\n'
        f'  SELECT {_PLACE}, "_offset",\n'
        f'    lead("_offset") OVER (PARTITION BY {_PLACE} ORDER BY "_offset") AS "next"\n'
        "  FROM offsets\n), runs AS (\n"
        f'  SELECT {_PLACE}, "_offset" + 1 AS "first_offset", "next" - 1 AS "last_offset",\n'
        f'    sum("next" - "_offset" - 1) OVER (PARTITION BY {_PLACE}) AS "missing",\n'
        f'    row_number() OVER (PARTITION BY {_PLACE} ORDER BY "_offset") AS "number"\n'
        '  FROM pairs WHERE "next" > "_offset" + 1\n)\n'
        'SELECT "_topic" AS "topic", "_kafka_partition" AS "part",\n'
        '  "first_offset", "last_offset", "missing"\n'
        f'FROM runs WHERE "number" <= {max(1, MOST_GAPS // len(spans))}\n'
        "ORDER BY 1, 2, 3"
    )


def write_parked(table: str, spans: Mapping[Place, Span]) -> str:
    """Return the query of the parked records of partitions."""
    return (
        'SELECT DISTINCT "topic", "kafka_partition" AS "part", "kafka_offset" AS "offset"\n'
        f"FROM {_table(table)} JOIN {_values(spans)}\n"
        '  ON "topic" = "of_topic" AND "kafka_partition" = "of_part"\n'
        'WHERE "kafka_offset" BETWEEN "low" AND "high"'
    )


def _spans(spans: Mapping[Place, Span]) -> str:
    """Return a table of spans, and the condition that a row is in one of them."""
    return (
        f"{_values(spans)}\n"
        '    ON "_topic" = "of_topic" AND "_kafka_partition" = "of_part"\n'
        '    AND "_offset" BETWEEN "low" AND "high"'
    )


def _values(spans: Mapping[Place, Span]) -> str:
    rows = ", ".join(
        f"({_text(topic)}, {partition}, {span.least}, {span.greatest})"
        for (topic, partition), span in sorted(spans.items())
    )
    rows = rows or "('', -1, 0, -1)"  # which no row of the table meets
    return f'(VALUES {rows}) AS span ("of_topic", "of_part", "low", "high")'


def _where(since: datetime | None) -> str:
    return f'\n  WHERE "{EVENT_TIME}" >= {_moment(since)}' if since else ""


def _moment(moment: datetime) -> str:
    return f"TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S} UTC'"


def _table(name: str) -> str:
    return quote_identifier(name.split("."))


def _count(column: Column) -> str:
    paths = [quote_identifier(each) for each in (column.path, *column.before)]
    if len(paths) == 1:
        return f"count({paths[0]})"
    return f"count_if({' OR '.join(f'{each} IS NOT NULL' for each in paths)})"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
