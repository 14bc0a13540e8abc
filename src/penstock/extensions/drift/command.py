"""`penstock schema drift` and `penstock schema sync`: tables against the versions of schemas."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from penstock.cli import (
    Progress,
    expect_count,
    print_json,
    print_line,
    use_answer_codes,
)
from penstock.extensions.drift.operation import TableSettings, find_drift, sync_lake

_DRIFT = (
    "Compare tables with all versions of the schemas whose records they hold: columns in the Glue "
    "catalog, Iceberg's schema, the footers of Parquet files, and a sample of DynamoDB rows. "
    "Nothing is changed."
)
_SYNC = (
    "Change the columns of tables in the Glue catalog so that they hold all versions of the "
    "schemas: columns are added, widened without touching data, and made optional. Nothing is "
    "dropped or narrowed; what needs a decision is listed."
)
_EXIT_CODES: Final = """\
exit codes:
  0  no difference
  1  an error, or wrong usage
  2  differences; with --apply, those that need a decision
"""


@dataclass(frozen=True, slots=True)
class _TableCommand:
    """A command over the tables of schemas, below `penstock schema`."""

    HELP: str
    add_own: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, TableSettings], int]

    def add_to(self, parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
        self.add_own(parser)
        parser.add_argument(
            "schemas",
            nargs="*",
            metavar="SCHEMA",
            help="schemas whose records are in the tables; without --route",
        )
        TableSettings.add_flags(parser)
        use_answer_codes(parser, _EXIT_CODES)
        parser.set_defaults(run=partial(_run, environ, self.run))


def _add_limits(drift: argparse.ArgumentParser) -> None:
    drift.add_argument(
        "--files",
        type=expect_count(),
        default=10_000,
        metavar="N",
        help="Parquet files whose footers are read, at most; the oldest and the newest of each "
        "folder come first [%(default)s]",
    )
    drift.add_argument(
        "--rows",
        type=expect_count(),
        default=100,
        metavar="N",
        help="rows that are read of a DynamoDB table, at most [%(default)s]",
    )


def _add_choice(sync: argparse.ArgumentParser) -> None:
    choice = sync.add_mutually_exclusive_group(required=True)
    choice.add_argument("--plan", action="store_true", help="print what would be changed")
    choice.add_argument("--apply", action="store_true", help="change it, in one commit per table")


def _run(
    environ: Mapping[str, str],
    run: Callable[[argparse.Namespace, TableSettings], int],
    flags: argparse.Namespace,
) -> int:
    return run(flags, TableSettings.from_flags(flags, environ))


def _run_drift(flags: argparse.Namespace, tables: TableSettings) -> int:
    with Progress(prints_lines=False) as bar:
        found = find_drift(
            flags.registry, flags.schemas, tables, flags.files, flags.rows, report=bar.show
        )
    if flags.output == "json":
        print_json(found)
        return 2 if found.differences else 0
    for difference in found.differences:
        print_line(_describe_difference(difference))
    calls = ", ".join(f"{name} {count}" for name, count in found.calls.items())
    left = f", {found.files_left} left unread" if found.files_left else ""
    print_line(
        f"differences: {len(found.differences)}; footers read: {found.files}{left}; calls: {calls}"
    )
    return 2 if found.differences else 0


def _run_sync(flags: argparse.Namespace, tables: TableSettings) -> int:
    synced: list[Any] = []

    def tell(table: Any) -> None:
        synced.append(table)
        if flags.output != "json":
            bar.clear()
            _say_synced(table)

    try:
        with Progress(prints_lines=False) as bar:
            sync_lake(
                flags.registry,
                flags.schemas,
                tables,
                apply=flags.apply,
                report=bar.show,
                tell=tell,
            )
    finally:  # an error and ctrl-C leave tables that were changed
        if flags.output == "json" and synced:
            print_json({"tables": synced})
    waiting = any(table.left or (table.changes and not table.applied) for table in synced)
    return 2 if waiting else 0


def _say_synced(table: Any) -> None:
    done = "changed" if table.applied else "to change"
    _say_all(f"{table.name}: {done}", table.changes)
    _say_all(f"{table.name}: needs a decision", table.left)
    if not table.changes and not table.left:
        print_line(f"{table.name}: nothing to change")


def _say_all(title: str, differences: Iterable[Any]) -> None:
    for at, difference in enumerate(differences):
        if at == 0:
            print_line(title)
        print_line(f"  {_describe_difference(difference)}")


def _describe_difference(difference: Any) -> str:
    count = f" ({difference.count} times)" if difference.count > 1 else ""
    advice = f": {difference.advice}" if difference.advice else ""
    return (
        f"{difference.place}: {difference.column}: found {difference.found}, expected "
        f"{difference.expected}{count}{advice}"
    )


DRIFT: Final = _TableCommand(_DRIFT, _add_limits, _run_drift)
SYNC: Final = _TableCommand(_SYNC, _add_choice, _run_sync)
