"""The flags of a workload."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Final

from penstock.cli import expect
from penstock.extensions.cost.workload import Workload
from penstock.settings import parse_count

_MOST_EVENTS: Final = 10_000_000
_MOST_BYTES: Final = 2**20
_MOST_CONSUMERS: Final = 1_000
_MOST_HOURS: Final = 10 * 8_760


def add_load(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a workload."""
    parser.add_argument(
        "--events",
        required=True,
        type=expect(_parse_events, f"a number of 0 to {_MOST_EVENTS:,}"),
        metavar="N",
        help="events a second, on average",
    )
    for flag, most, default, meaning in (
        ("--bytes", _MOST_BYTES, 1_024, "bytes of a record, with its frame and key"),
        ("--consumers", _MOST_CONSUMERS, 1, "consumers, each of which reads all records"),
        ("--retention", _MOST_HOURS, 24, "hours that records are kept"),
    ):
        parser.add_argument(
            flag,
            type=expect(partial(parse_up_to, most), f"a whole number of 1 to {most:,}"),
            default=default,
            metavar="N",
            help=f"{meaning} [%(default)s]",
        )


def read_load(flags: argparse.Namespace) -> Workload:
    """Return the workload of parsed flags."""
    return Workload(flags.events, flags.bytes, flags.consumers, flags.retention)


def parse_up_to(most: int, text: str) -> int:
    """Return a whole number from 1 up to a bound."""
    number = parse_count(text, least=1)
    if number > most:
        raise ValueError(text)
    return number


def _parse_events(text: str) -> float:
    events = float(text)
    if not 0 <= events <= _MOST_EVENTS:
        raise ValueError(text)
    return events
