"""`penstock lineage`: where the columns of tables come from, and where the records of topics go."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from penstock.cli import (
    ROOTS,
    Progress,
    add_from_environ,
    add_outputs,
    expect,
    expect_count,
    print_json,
    print_line,
    use_answer_codes,
)
from penstock.errors import SettingsError
from penstock.extensions.lineage.drawing import draw_lineage
from penstock.extensions.lineage.open_lineage import list_events
from penstock.extensions.lineage.operation import trace_lineage
from penstock.extensions.lineage.stored import Tables
from penstock.extensions.lineage.text import list_lines
from penstock.extensions.lineage.versions import Versions
from penstock.operations import load_programs
from penstock.settings import parse_moment

HELP = (
    "Print where the columns of tables come from: producers, schema versions, topics, programs, "
    "tables, columns. The outputs of Terraform say which programs there are, the registry which "
    "versions, and the tables which versions their rows have. Nothing is changed."
)
_EXIT_CODES: Final = """\
exit codes:
  0  every column that was seen has a source
  1  an error, or wrong usage
  2  a column has no source
"""
_OUTPUTS: Final = ("text", "json", "svg", "openlineage")


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    roots = [Path(environ[each]) for each in ROOTS.values() if environ.get(each)]
    parser.add_argument(
        "what",
        nargs="?",
        default="",
        metavar="NAME",
        help="a schema, a topic, a table, or TABLE.COLUMN [all of them]",
    )
    add_outputs(
        parser,
        "a file of `terraform output -json` of a root, or its folder; may be repeated [the "
        f"variables {' and '.join(ROOTS.values())}]",
        metavar="PLACE",
    )
    _add_services(parser, environ)
    parser.add_argument(
        "--as-of",
        type=expect(parse_moment, "a time with UTC offset, such as 2026-11-26T12:00Z"),
        metavar="TIME",
        help="versions, rows and columns at this time [now]",
    )
    parser.add_argument(
        "--rows",
        type=expect_count(),
        default=1_000,
        metavar="N",
        help="rows that are read of a table of DynamoDB, at most [%(default)s]",
    )
    parser.add_argument(
        "--output",
        choices=_OUTPUTS,
        default="text",
        help="json prints an object in one line, openlineage an event in each [%(default)s]",
    )
    use_answer_codes(parser, _EXIT_CODES)
    parser.set_defaults(run=partial(_run, roots))


def _add_services(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    for flag, variable, meaning in (
        ("--registry", "PENSTOCK_REGISTRY", "URLs of the schema registries, separated by spaces"),
        ("--workgroup", "PENSTOCK_WORKGROUP", "work group of Athena that counts rows"),
    ):
        add_from_environ(parser, flag, variable, meaning, environ)


def _run(roots: Sequence[Path], flags: argparse.Namespace) -> int:
    if not (places := flags.outputs or roots):
        raise SettingsError(
            [
                f"{' or '.join(ROOTS.values())} (--outputs) is missing, expected the "
                "folder of a Terraform root, or a file of its outputs"
            ]
        )
    programs = load_programs(places)
    with Progress(prints_lines=False) as bar:
        found = trace_lineage(
            flags.what,
            programs,
            Versions(flags.registry, flags.as_of),
            Tables(flags.workgroup, flags.rows, flags.as_of),
            report=bar.show,
        )
    if flags.output == "json":
        print_json(found)
    elif flags.output == "svg":
        print(draw_lineage(found), end="")
    elif flags.output == "openlineage":
        for event in list_events(found, programs, datetime.now(UTC)):
            print_json(event)
    else:
        for line in list_lines(found):
            print_line(line)
    return 2 if any(found.list_unexplained()) else 0
