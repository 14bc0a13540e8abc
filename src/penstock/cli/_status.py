"""`penstock status`: count what is open in the account of the profile."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from functools import partial

from penstock.cli.arguments import add_output
from penstock.cli.terminal import Progress, print_line
from penstock.cli.values import print_json
from penstock.operations import DeadLetterCount, Status, StatusReader, StatusSettings

HELP = (
    "Count what is open: kept events by producer, dead letters by table and reason, and the "
    "versions that schemas have left."
)


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--fail",
        action="store_true",
        help="exit with 1 if events are kept, dead letters are open, or too few versions are left",
    )
    add_output(parser)
    StatusSettings.add_flags(parser)
    parser.set_defaults(run=partial(_run, environ))


def _run(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    """Print the counts; return 1 if one is missing, or by --fail if something is open."""
    settings = StatusSettings.from_flags(flags, environ)
    with Progress(prints_lines=False) as bar:
        bar.show("what is open is counted")
        status = StatusReader(settings, checks_registries=True).read()
    if flags.output == "json":
        print_json(status)
    else:
        for line in _show(status):
            print_line(line)
    return 1 if status.problems or (flags.fail and status.is_open) else 0


def _show(status: Status) -> Iterator[str]:
    for kept in status.kept_events:
        count = _show_count(kept.events, kept.is_complete)
        yield f"{kept.producer}: {kept.problem or f'{count} kept events'}"
    for letters in status.dead_letter_tables:
        yield f"{letters.table}: {letters.problem or _show_letters(letters)}"
        for reason, number in letters.reasons.items():
            yield f"  {reason}: {number:,}"
    for schema in status.versions_left:
        left = f"{schema.left} of {schema.budget} versions left"
        yield f"{schema.producer}, schema {schema.schema}: {schema.problem or left}"


def _show_letters(found: DeadLetterCount) -> str:
    parts = [f"{_show_count(found.open, found.is_complete)} open dead letters"]
    if found.open:
        parts.append(f"the oldest of {_show_age(found.oldest_seconds or 0)} ago")
    if found.waiting:
        parts.append(f"{found.waiting:,} wait for a row of a join")
    return ", ".join(parts)


def _show_count(count: int | None, is_complete: bool | None) -> str:
    return f"{count or 0:,}{'' if is_complete else ' or more'}"


def _show_age(seconds: int) -> str:
    """Return an age in its largest unit."""
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"
