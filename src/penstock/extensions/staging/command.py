"""`penstock staging`: check the configuration of a staging job."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from functools import partial

from penstock.cli import add_output, print_json, print_line
from penstock.extensions.staging.operation import PlannedTable, check_staging

HELP = "Check the configuration of a staging job."
_CHECK = (
    "Check the configuration of a staging job and print its tables with their topics, keys, "
    "columns and dependencies. No table is created."
)


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    commands = parser.add_subparsers(required=True, metavar="check")
    check = commands.add_parser("check", help=_CHECK, description=_CHECK)
    check.add_argument("file", metavar="FILE", help="the path or s3:// URL of the configuration")
    add_output(check)
    check.set_defaults(run=partial(_run, environ))


def _run(environ: Mapping[str, str], settings: argparse.Namespace) -> int:
    tables = check_staging(settings.file, environ)
    if settings.output == "json":
        print_json({"file": settings.file, "tables": tables})
        return 0
    for table in tables:
        for line in _describe_table(table):
            print_line(line)
    topics = sum(len(each.topics) for each in tables)
    print_line(f"{settings.file} is valid; tables: {len(tables)}, topics and patterns: {topics}")
    return 0


def _describe_table(table: PlannedTable) -> Iterator[str]:
    yield f"{table.name}: {table.role}, in {' and '.join(table.sinks)}"
    if table.topics:
        yield f"  topics   {', '.join(table.topics)}"
    sort = f", sort key {table.sort}" if table.sort else ""
    yield f"  table    partition key {table.key}{sort}"
    for name, fields in table.fields.items():
        yield f"  {name:<8} {', '.join(fields)}"
    if table.topics:
        columns = table.columns
        yield "  columns  " + (
            "all fields"
            if columns is None
            else ", ".join(
                field if field == column else f"{field} as {column}"
                for field, column in columns.items()
            )
        )
    for need in table.needs:
        yield f"  needs    {need}"
    if table.final:
        yield f"  makes    {table.final}"
