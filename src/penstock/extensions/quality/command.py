"""`penstock quality`: check the rows of a table of the lake."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial

from penstock.cli import (
    Progress,
    add_output,
    expect,
    print_json,
    print_line,
    use_answer_codes,
)
from penstock.extensions.quality.operation import TopicSettings, check_quality
from penstock.extensions.quality.report import Report
from penstock.extensions.quality.settings import QualitySettings, parse_table

HELP = (
    "Check the rows of a table of the lake by queries of Athena: nulls against the schemas of "
    "their writers, offsets against Kafka's, repeated records, late events. With "
    "--kafka, Kafka's newest offsets and the records at missing offsets are read too."
)
_EXIT_CODES = """\
exit codes:
  0  every rule that was checked holds
  1  an error, or wrong usage
  2  at least one rule failed
"""
_COLUMNS = "{:<18} {:<12} {:>10} {:>10}  {}"


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.add_argument(
        "table",
        metavar="TABLE",
        type=expect(parse_table, "DATABASE.TABLE"),
        help="DATABASE.TABLE",
    )
    parser.add_argument(
        "--kafka", action="store_true", help="read Kafka's newest offsets and missing records too"
    )
    parser.add_argument(
        "--into",
        metavar="PLACE",
        default="",
        help="a folder or s3:// URL for the report, as JSON and as a page [it is printed only]",
    )
    add_output(parser, "the report in one line")
    QualitySettings.add_flags(parser)
    TopicSettings.add_flags(parser)
    use_answer_codes(parser, _EXIT_CODES)
    parser.set_defaults(run=partial(_run, environ))


def _run(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    settings = QualitySettings.from_flags(flags, environ)
    topics = TopicSettings.from_flags(flags, environ) if flags.kafka else None
    with Progress(prints_lines=False) as bar:
        found = check_quality(settings, flags.table, topics, flags.into, report=bar.show)
    if flags.output == "json":
        print_json(found.report.to_json() | {"places": found.places})
    else:
        show(found.report)
        for place in found.places:
            print_line(f"written to {place}")
    return 2 if found.report.failed else 0


def show(report: Report) -> None:
    """Print the rules of a report."""
    since = f"since {report.since:%Y-%m-%d}" if report.since else "the whole table"
    print_line(f"{report.table}, {since}: {report.rows:,} rows")
    print_line(_COLUMNS.format("RULE", "VERDICT", "FOUND", "LIMIT", "DETAIL"))
    for each in report.rules:
        found, limit = _number(each.found), _number(each.limit)
        print_line(_COLUMNS.format(each.rule, each.state, found, limit, each.detail))
    scanned = sum(each.scanned_bytes for each in report.queries)
    queries = f"{len(report.queries)} queries, {scanned:,} bytes"
    print_line(f"{len(report.failed)} rules failed; {queries}")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.10g}"
