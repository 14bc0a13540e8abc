"""The page of a report: one HTML file with plots, without scripts and without a server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from penstock.extensions.quality._plots import Bar, draw_columns, draw_lines
from penstock.extensions.quality.report import Bucket, ColumnNulls, Partition, Report, RuleState

_MOST_COLUMNS: Final = 40
_MOST_ROWS: Final = 200
_STYLE: Final = """
body { font-family: sans-serif; color: #223; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid #dde;
  vertical-align: top; overflow-wrap: anywhere; }
th.number, td.number { text-align: right; }
.holds { color: #1e7d45; } .failed { color: #c0392b; font-weight: bold; }
.not-checked { color: #667; }
svg { max-width: 100%; height: auto; } p.note { color: #667; font-size: .85rem; }
"""
_WORDS: Final = {
    RuleState.HOLDS: "holds",
    RuleState.FAILED: "failed",
    RuleState.NOT_CHECKED: "not checked",
}
# The figures of a partition, in the order of their columns.
_OFFSETS: Final = (
    "rows",
    "first_offset",
    "last_offset",
    "repeated_records",
    "missing_offsets",
    "dead_letters",
    "tombstones",
    "no_records",
    "unexplained",
    "lag",
)
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_MIB: Final = 2**20


def write_page(report: Report) -> str:
    """Return the HTML page that shows a report."""
    since = f"since {report.since:%Y-%m-%d}" if report.since else "the whole table"
    count = len(report.failed)
    verdict = (
        f"{count} rules failed" if count > 1 else "1 rule failed" if count else "no rule failed"
    )
    scanned = sum(each.scanned_bytes for each in report.queries)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{escape(report.table)}: {verdict}'
            f"</title><style>{_STYLE}</style></head><body>",
            f"<h1>{escape(report.table)}: "
            f'<span class="{"failed" if count else "holds"}">{verdict}</span></h1>',
            f"<p>{report.rows:,} rows, {since}, checked at "
            f"{report.checked_at:%Y-%m-%d %H:%M:%S} UTC</p>",
            _write_rules(report),
            *_write_days(report),
            *_write_columns(report.columns),
            *_write_lateness(report.lateness),
            *_write_partitions(report.partitions),
            *_write_gaps(report),
            *_write_versions(report),
            f'<p class="note">{len(report.queries)} queries of Athena scanned '
            f"{scanned / _MIB:,.1f} MiB: {escape(', '.join(each.id for each in report.queries))}"
            "</p></body></html>\n",
        ]
    )


def _write_rules(report: Report) -> str:
    rows = [
        (
            each.rule,
            f'<span class="{each.state}">{_WORDS[each.state]}</span>',
            _number(each.found),
            _number(each.limit),
            escape(each.detail),
        )
        for each in report.rules
    ]
    return _table(("rule", "verdict", "+found", "+limit", "detail"), rows)


def _write_days(report: Report) -> Iterable[str]:
    yield "<h2>Rows by day</h2>"
    bars = [
        Bar(each.day, each.rows, each.late, f"{each.rows:,} rows, {each.late:,} late")
        for each in report.days
    ]
    yield draw_columns(bars, "Rows by day; late events are red")
    yield '<p class="note">By the time of the event, in UTC; late events are red.</p>'


def _write_columns(columns: Sequence[ColumnNulls]) -> Iterable[str]:
    yield "<h2>Nulls by column</h2>"
    order = sorted(columns, key=lambda each: (-(each.required_nulls or 0), -each.share))
    shown = order[:_MOST_COLUMNS]
    bars = [
        Bar(
            each.column,
            each.share,
            each.required_nulls or 0,
            _describe_nulls(each),
        )
        for each in shown
    ]
    yield draw_lines(bars, "Share of nulls by column; red where a schema requires a value")
    yield (
        '<p class="note">Of the rows whose schema has the field. Red: so many rows have no value '
        "although the schema of their writer requires one.</p>"
    )
    if len(order) > len(shown):
        rest = len(order) - len(shown)
        yield f'<p class="note">{rest} columns with fewer nulls are left out.</p>'


def _describe_nulls(column: ColumnNulls) -> str:
    share = f"{column.share:.1%}"
    return f"{share}, {column.required_nulls:,} required" if column.required_nulls else share


def _write_lateness(buckets: Sequence[Bucket]) -> Iterable[str]:
    yield "<h2>Lateness</h2>"
    bars = [Bar(_range(each), each.rows, text=f"{each.rows:,} rows") for each in buckets]
    yield draw_columns(bars, "Rows by the delay from the event to Kafka")
    yield (
        '<p class="note">From the time of the event to Kafka\'s timestamp; below 0 the event is '
        "ahead of Kafka.</p>"
    )


def _write_partitions(partitions: Sequence[Partition]) -> Iterable[str]:
    yield "<h2>Offsets by partition</h2>"
    worst = sorted(partitions, key=lambda each: (-each.unexplained, -each.repeated_records))
    rows = [
        (escape(str(each)), *(_number(getattr(each, name)) for name in _OFFSETS))
        for each in worst[:_MOST_ROWS]
    ]
    yield _table(("partition", *(f"+{name.replace('_', ' ')}" for name in _OFFSETS)), rows)
    if len(worst) > len(rows):
        yield f'<p class="note">{len(worst) - len(rows)} partitions are left out.</p>'


def _write_gaps(report: Report) -> Iterable[str]:
    if report.gaps:
        yield "<h2>Missing offsets</h2>"
        rows = [
            (
                escape(f"{each.topic}/{each.partition}"),
                _number(each.first_offset),
                _number(each.last_offset),
                _number(each.last_offset - each.first_offset + 1),
            )
            for each in report.gaps
        ]
        yield _table(("partition", "+first", "+last", "+offsets"), rows)


def _write_versions(report: Report) -> Iterable[str]:
    yield "<h2>Schema versions</h2>"
    rows = [
        (
            escape(each.schema_id or "null"),
            escape(each.name),
            _number(each.version),
            _number(each.rows),
            escape(each.problem),
        )
        for each in report.versions
    ]
    yield _table(("schema id", "name", "+version", "+rows", "problem"), rows)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table of HTML; columns that begin with + are numbers."""
    classes = [' class="number"' if name.startswith("+") else "" for name in columns]
    head = "".join(
        f"<th{style}>{name.removeprefix('+')}</th>"
        for name, style in zip(columns, classes, strict=True)
    )
    lines = [
        "".join(f"<td{style}>{cell}</td>" for cell, style in zip(row, classes, strict=True))
        for row in rows
    ]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><tr>{head}</tr>\n{body}</table>"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.10g}"


def _range(bucket: Bucket) -> str:
    low, high = bucket.from_seconds, bucket.to_seconds
    if low is None:
        return f"< {_time(high or 0)}"
    return f"> {_time(low)}" if high is None else f"{_time(low)} to {_time(high)}"


def _time(seconds: float) -> str:
    for size, unit in _UNITS:
        if abs(seconds) >= size:
            return f"{seconds / size:g} {unit}"
    return "0"
