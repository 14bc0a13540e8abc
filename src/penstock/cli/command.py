"""The words of the command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from penstock.cli._rejected import list_rejected, replay_rejected
from penstock.errors import PenstockError
from penstock.producing import RejectedEvents

_BUCKET = "PENSTOCK_REJECTED_BUCKET"


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] | None = None) -> int:
    """Do what the words say; 0 when all of it was done, 1 when not, 2 for other words."""
    given = _parse(argv, os.environ if environ is None else environ)
    events = RejectedEvents(given.bucket)
    try:
        if given.command == "list":
            return list_rejected(events, given.prefix, sys.stdout)
        return replay_rejected(events, given.prefix, given.function, sys.stdout)
    except PenstockError as error:
        print(f"penstock: {error}", file=sys.stderr)
        return 1


def _parse(argv: Sequence[str] | None, environ: Mapping[str, str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="penstock", description="Operate Penstock.")
    rooms = parser.add_subparsers(dest="room", required=True, metavar="rejected")
    rejected = rooms.add_parser("rejected", help="events that a producer did not write")
    commands = rejected.add_subparsers(dest="command", required=True)
    bucket = environ.get(_BUCKET, "")
    for name, what in (("list", "show them"), ("replay", "send them to their producer again")):
        command = commands.add_parser(name, help=what, description=f"{what.capitalize()}.")
        command.add_argument(
            "--bucket", default=bucket, required=not bucket, help=f"that keeps them [{_BUCKET}]"
        )
        command.add_argument(
            "prefix",
            nargs="?" if name == "list" else "+",
            metavar="KEY",
            help="of an event, or its beginning, such as 2026/11/21",
        )
    commands.choices["replay"].add_argument(
        "--function", help="the producer to send them to, if not the one that refused them"
    )
    given = parser.parse_args(argv)
    if given.command == "list":
        given.prefix = [given.prefix or ""]
    return given
