"""`penstock rejected`: list rejected events, and send them to their producer again."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial

from penstock.cli._explain import point_to_pages
from penstock.cli.arguments import add_from_environ, add_output
from penstock.cli.terminal import Progress, Table, interruptible, print_line
from penstock.cli.values import print_json, show_moment
from penstock.operations import ListedEvent, ReplayedEvent, list_rejected, replay_rejected

HELP = "List rejected events, or send them to their producer again."
_BUCKET = "PENSTOCK_REJECTED_BUCKET"
_LIST = "List rejected events: key, time, reason and detail."
_REPLAY = (
    "Send rejected events to their producer again. A written event is deleted from the bucket; the "
    "others stay. It is an error if no event has such a key. Ctrl-C ends it after the events "
    "that are under way."
)
_COLUMNS = "{:<78} {:<24} {:<26} {}"


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the two commands and their arguments."""
    commands = parser.add_subparsers(required=True, metavar="list|replay")
    listing = commands.add_parser("list", help=_LIST, description=_LIST)
    listing.add_argument(
        "prefix",
        nargs="?",
        default="",
        metavar="KEY",
        help="prefix of the keys to list [all events]",
    )
    add_output(listing, "an object in a line for each event")
    listing.set_defaults(run=_run_list)
    replay = commands.add_parser("replay", help=_REPLAY, description=_REPLAY)
    replay.add_argument(
        "prefix",
        nargs="+",
        metavar="KEY",
        help="a key, or a prefix of keys such as penstock-producer/2026/11/21",
    )
    replay.add_argument(
        "--function", help="the producer function to send them to [the one that rejected them]"
    )
    add_output(replay, "an object in a line for each event, and one for the summary")
    replay.set_defaults(run=_run_replay)
    for command in (listing, replay):
        add_from_environ(command, "--bucket", _BUCKET, "the bucket of rejected events", environ)


def _run_list(settings: argparse.Namespace) -> int:
    """Print each event; return 1 if an event cannot be read."""
    table = Table(_COLUMNS, "KEY", "WHEN", "REASON", "DETAIL")
    show = _list_as_json if settings.output == "json" else partial(_list_as_text, table)
    unreadable = 0
    with Progress() as bar:
        bar.show("events", 0)
        for number, found in enumerate(list_rejected(settings.bucket, settings.prefix), 1):
            show(found)
            unreadable += found.event is None
            bar.show("events", number)
    if settings.output == "text":
        table.close()
        point_to_pages(table.rows)
    return 1 if unreadable else 0


def _list_as_text(table: Table, found: ListedEvent) -> None:
    if (event := found.event) is None:
        table.close()
        print_line(f"{found.key} cannot be read: {found.problem}")
    else:
        table.add(found.key, show_moment(event.timestamp), event.reason, event.detail)


def _list_as_json(found: ListedEvent) -> None:
    event = found.event
    print_json(
        {
            "key": found.key,
            "when": event and event.received_at,
            "reason": event and event.reason,
            "detail": event and event.detail,
            "problem": found.problem or None,
        }
    )


def _run_replay(settings: argparse.Namespace) -> int:
    """Print the outcome of each event; return 1 if an event stays or none was sent.

    Ctrl-C does not stop a function that was invoked, so its answer is waited for.
    """
    show = _replay_as_json if settings.output == "json" else _replay_as_text
    written = stay = 0
    with interruptible() as is_stopped, Progress() as bar:
        bar.show("events", 0)
        for sent in replay_rejected(
            settings.bucket, settings.prefix, settings.function, is_stopped=is_stopped
        ):
            show(sent)
            written += sent.written
            stay += sent.rejected + bool(sent.problem)
            bar.show("events", written + stay)
    if settings.output == "json":
        print_json({"summary": {"written": written, "stay": stay}})
    else:
        print_line(f"{written} written, {stay} stay")
    if is_stopped():
        raise KeyboardInterrupt
    return 1 if stay or not written else 0


def _replay_as_text(sent: ReplayedEvent) -> None:
    if sent.problem:
        print_line(f"{sent.key} stays: {sent.problem}")
    elif sent.record:
        print_line(f"{sent.key} is written as {sent.record}")
    else:
        print_line(
            f"{sent.key} is a request: {sent.written:,} of its events are written, "
            f"{sent.rejected:,} are rejected and kept one by one"
        )


def _replay_as_json(sent: ReplayedEvent) -> None:
    print_json(
        {
            "key": sent.key,
            "record": sent.record or None,
            "written": sent.written,
            "rejected": sent.rejected,
            "problem": sent.problem or None,
        }
    )
