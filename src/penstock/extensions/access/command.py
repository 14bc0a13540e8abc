"""`penstock access`: list, plan and apply the access lists of Kafka."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from penstock.cli import (
    ROOTS,
    add_output,
    find_root,
    print_json,
    print_line,
    use_answer_codes,
)
from penstock.extensions.access.operation import apply_change, list_access, plan_change
from penstock.extensions.access.plan import AccessPlan
from penstock.extensions.access.wanted import read_wanted
from penstock.kafka import AccessList, KafkaSettings

HELP = "List the access lists of Kafka, compare them with the wanted ones, and apply those."
_LIST = "Print the access lists of all users."
_PLAN = (
    "Compare the access lists of the brokers with those of the contracts, and print what an apply "
    "would create and delete. Users that are not named keep theirs. Deny rules of a named user, "
    "and a change that locks its caller out, are refused."
)
_APPLY = "Create and delete what `plan` prints, and wait until the brokers show it."
_LIST_CODES: Final = """\
exit codes:
  0  listed
  1  an error, or wrong usage
"""
_PLAN_CODES: Final = """\
exit codes:
  0  no change
  1  an error, a refused plan, or wrong usage
  2  an apply would change something
"""
_APPLY_CODES: Final = """\
exit codes:
  0  the brokers have the wanted access lists
  1  an error, a refused plan, or wrong usage
"""
_Run = Callable[[KafkaSettings, argparse.Namespace, Mapping[str, str]], int]


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    commands = parser.add_subparsers(required=True, metavar="list|plan|apply")
    found = commands.add_parser("list", help=_LIST, description=_LIST)
    _finish(found, environ, _run_list, _LIST_CODES)
    for name, about, run, codes in (
        ("plan", _PLAN, partial(_run_change, False), _PLAN_CODES),
        ("apply", _APPLY, partial(_run_change, True), _APPLY_CODES),
    ):
        change = commands.add_parser(name, help=about, description=about)
        _add_wanted(change)
        _finish(change, environ, run, codes)


def _add_wanted(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--producer",
        type=Path,
        metavar="FOLDER",
        help="the producer's Terraform root, whose contracts are wanted [infra/producer or the "
        f"variable {ROOTS['producer']}, without --contract and --also]",
    )
    for flag, meaning in (
        ("--contract", "a contract that is wanted, as `penstock contract` writes it"),
        ("--also", "access lists of other programs that are wanted, as JSON"),
    ):
        parser.add_argument(
            flag,
            type=Path,
            action="append",
            default=[],
            metavar="FILE",
            help=f"{meaning}; may be given more than once",
        )


def _finish(
    parser: argparse.ArgumentParser, environ: Mapping[str, str], run: _Run, codes: str
) -> None:
    add_output(parser)
    KafkaSettings.add_flags(parser)
    use_answer_codes(parser, codes)
    parser.set_defaults(run=partial(_run, environ, run))


def _run(environ: Mapping[str, str], run: _Run, flags: argparse.Namespace) -> int:
    return run(KafkaSettings.from_flags(flags, environ), flags, environ)


def _run_list(
    settings: KafkaSettings, flags: argparse.Namespace, environ: Mapping[str, str]
) -> int:
    found = list_access(settings)
    if flags.output == "json":
        print_json({"accessLists": found})
        return 0
    for line in _format_rows((" ", each) for each in found):
        print_line(line)
    print_line(f"access lists: {len(found)}, users: {len({each.user for each in found})}")
    return 0


def _run_change(
    applies: bool,
    settings: KafkaSettings,
    flags: argparse.Namespace,
    environ: Mapping[str, str],
) -> int:
    root = flags.producer
    if root is None and not flags.contract and not flags.also:
        root = find_root("producer", environ)
    wanted = read_wanted(root, flags.contract, flags.also)
    if applies:
        apply_change(settings, wanted, partial(_print_plan, flags, "created", "deleted"))
        return 0
    plan = plan_change(settings, wanted)
    _print_plan(flags, "to create", "to delete", plan)
    return 2 if plan.is_change else 0


def _print_plan(flags: argparse.Namespace, created: str, deleted: str, plan: AccessPlan) -> None:
    if flags.output == "json":
        print_json(plan)
        return
    for line in _format_rows(_mark_rows(plan)):
        print_line(line)
    print_line(
        f"{created} {len(plan.create)}, {deleted} {len(plan.delete)}, kept {len(plan.keep)}, "
        f"of users that are not named {len(plan.others)}"
    )


def _mark_rows(plan: AccessPlan) -> Iterator[tuple[str, AccessList]]:
    """Yield the rows by user: + is missing, - surplus, = both wanted and found, ? not named."""
    marks = {"+": plan.create, "-": plan.delete, "=": plan.keep, "?": plan.others}
    rows = [(each, mark) for mark, lists in marks.items() for each in lists]
    for each, mark in sorted(rows):
        yield mark, each


def _format_rows(rows: Iterable[tuple[str, AccessList]]) -> Iterator[str]:
    """Yield lines in columns as wide as their longest cells."""
    table = [(" ", "USER", "OPERATION", "RESOURCE", "HOST")]
    for mark, each in rows:
        denied = "" if each.permission == "ALLOW" else f"{each.permission} "
        table.append((mark, each.user, denied + each.operation, each.resource, each.host))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if len(table) > 1:
        for row in table:
            cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            yield "  ".join(cells).rstrip()
