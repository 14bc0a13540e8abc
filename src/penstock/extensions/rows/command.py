"""`penstock rows`: rows of a table of DynamoDB."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from penstock.cli import (
    Progress,
    add_output,
    describe_value,
    expect_count,
    print_json,
    print_line,
)
from penstock.extensions.rows.operation import TableRow, read_table
from penstock.schemas import write_value

HELP = "Print rows of a table of DynamoDB: those of a key in order, or some of all keys."


def add_to(parser: argparse.ArgumentParser, _: Mapping[str, str]) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table")
    parser.add_argument("--key", default="", help="the value of the partition key [rows of all]")
    parser.add_argument(
        "--count",
        type=expect_count(),
        default=100,
        metavar="N",
        help="rows that are read, at most [%(default)s]",
    )
    add_output(parser, "an object in a line for each row")
    parser.set_defaults(run=_run)


def _run(flags: argparse.Namespace) -> int:
    with Progress() as bar:
        bar.show("rows", 0, flags.count)
        for number, row in enumerate(read_table(flags.table, flags.key, flags.count), 1):
            if flags.output == "json":
                print_json(row)
            else:
                print_line(_describe_row(row))
            bar.show("rows", number, flags.count)
    return 0


def _describe_row(row: TableRow) -> str:
    keys = [f"{name}={value}" for name, value in row.key.items()]
    value = "deleted" if row.deleted else _write_values(row)
    return "  ".join([row.source or "-", *keys, value])


def _write_values(row: TableRow) -> str:
    fields = {name: value for name, value in row.value.items() if name != "_source"}
    return write_value(describe_value(fields), ensure_ascii=False)
