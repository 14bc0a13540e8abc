"""`penstock produce`: write events to a topic, and print the place or the refusal of each."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

from penstock.cli._dry_run import preview
from penstock.cli.arguments import add_output, expect, expect_count
from penstock.cli.terminal import Progress, interruptible, print_line
from penstock.cli.values import format_json, print_json
from penstock.errors import SettingsError
from penstock.operations import (
    NO_BROKERS,
    EventLines,
    GeneratedEvents,
    ProducedEvent,
    ProduceSettings,
    produce_events,
)
from penstock.settings import parse_positive

HELP = (
    "Write events to a topic: random ones that conform to the registered schema, or the lines of a "
    "JSON lines file. Ctrl-C ends it after the records that are under way."
)
_GENERATED_RECORDS = 10
_GENERATED_POLICY = "fixed"


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the arguments."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a file with a JSON object in each line, or - for stdin [events are generated from "
        "the newest version of the schema, under the policy fixed]",
    )
    parser.add_argument(
        "--records",
        type=expect_count(),
        metavar="N",
        help=f"write at most N events [{_GENERATED_RECORDS} if generated, else all]",
    )
    parser.add_argument(
        "--rate",
        type=expect(parse_positive, "a number above 0"),
        metavar="N",
        help="the most events per second [unlimited]",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="seed of the generator: it makes the same events again, except for their time",
    )
    parser.add_argument(
        "--quiet", action="store_true", help="print only what is not written, and the summary"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the schema version of each event, its changes and the verdict; register and "
        "send nothing, and ask no broker",
    )
    add_output(parser, "an object in a line for each event, and one for the summary")
    ProduceSettings.add_flags(parser)
    parser.set_defaults(run=partial(_run, environ))


@dataclass(slots=True)
class _Totals:
    """The outcomes so far."""

    began: float = field(default_factory=time.monotonic)
    sent: int = 0
    refused: int = 0
    not_acknowledged: int = 0
    new_versions: set[str] = field(default_factory=set)

    def add(self, produced: ProducedEvent) -> None:
        if (refusal := produced.refusal) is not None:
            self.refused += refusal.is_final
            self.not_acknowledged += not refusal.is_final
        elif produced.written:
            self.sent += 1
            if produced.written.registration.created:
                version = produced.written.registration.version
                self.new_versions.add(f"{version.name} v{version.number}")

    @property
    def done(self) -> int:
        return self.sent + self.refused + self.not_acknowledged

    def describe(self) -> dict[str, Any]:
        seconds = time.monotonic() - self.began
        return {
            "sent": self.sent,
            "refused": self.refused,
            "notAcknowledged": self.not_acknowledged,
            "newVersions": sorted(self.new_versions),
            "seconds": round(seconds, 3),
            "recordsPerSecond": round(self.sent / seconds, 1),
        }

    def show(self) -> str:
        text = (
            "sent {sent:,}, refused {refused:,}, not acknowledged {notAcknowledged:,} in "
            "{seconds:.1f} s ({recordsPerSecond:,.0f} records/s)".format(**self.describe())
        )
        return text + (
            f"; new versions: {', '.join(sorted(self.new_versions))}" if self.new_versions else ""
        )


def _run(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    """Print the outcome of each event; return 1 if an event is not written."""
    given = [NO_BROKERS] if flags.dry_run else []
    settings = ProduceSettings.from_flags(flags, environ, given)
    if not flags.file and flags.policy not in {None, _GENERATED_POLICY}:
        raise SettingsError([f"--policy is {flags.policy}, expected a FILE with the events"])
    source = EventLines(flags.file) if flags.file else GeneratedEvents(flags.seed)
    records = flags.records or (None if flags.file else _GENERATED_RECORDS)
    if flags.dry_run:
        with interruptible() as is_stopped:
            return preview(settings, source, flags, records, is_stopped)
    totals = _Totals()
    with interruptible() as is_stopped, Progress(prints_lines=not flags.quiet) as bar:
        bar.show("records", 0, records)
        try:
            for batch in produce_events(
                settings, source, max_records=records, rate=flags.rate, is_stopped=is_stopped
            ):
                for each in batch:
                    totals.add(each)
                if lines := _format(batch, source.locate, flags):
                    bar.clear()
                    for line in lines:
                        print_line(line)
                    sys.stdout.flush()
                bar.show("records", totals.done, records)
        finally:
            bar.clear()
            if totals.done or is_stopped():
                _say_summary(totals, flags.output)
        if is_stopped():
            raise KeyboardInterrupt
    return 1 if totals.refused or totals.not_acknowledged else 0


def _format(
    batch: Sequence[ProducedEvent], locate: Callable[[int], str], flags: argparse.Namespace
) -> list[str]:
    """Return the lines to print for a batch."""
    if flags.output == "json":
        return [format_json(each.describe()) for each in batch if each.refusal or not flags.quiet]
    lines: list[str] = []
    # An outage has one sentence for many events.
    for problem, group in groupby(batch, _describe_problem):
        events = list(group)
        if problem:
            more = f" and the next {len(events) - 1:,}" if len(events) > 1 else ""
            lines.append(f"{locate(events[0].number)}{more}: {problem}")
        elif not flags.quiet:
            lines += map(_show, events)
    return lines


def _describe_problem(produced: ProducedEvent) -> str:
    refusal = produced.refusal
    if refusal is None:
        return ""
    return f"{'refused' if refusal.is_final else 'not acknowledged'}: {refusal.message}"


def _show(produced: ProducedEvent) -> str:
    """Return the place of a record, and its schema; a new version comes with its changes."""
    described = produced.describe()
    schema = described["schema"]
    words = [
        "{topic}/{partition}/{offset}".format(**described),
        "schema={name} v{version}".format(**schema),
    ]
    if schema["created"]:
        words += ["new version", *schema.get("diff", ())]
    if warning := schema.get("warning"):
        words.append(f"warning: {warning}")
    return "  ".join(words)


def _say_summary(totals: _Totals, output: str) -> None:
    if output == "json":
        print_json({"summary": totals.describe()})
    else:
        print_line(totals.show())
