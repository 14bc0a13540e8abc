"""`penstock explain`: what a reason means, and what to do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from penstock.cli.arguments import add_output
from penstock.cli.terminal import print_line
from penstock.cli.values import print_json
from penstock.reasons import find_page, list_pages

HELP = "Say what the reason of a dead letter or a rejected event means, and what to do."


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the arguments."""
    parser.add_argument(
        "reason", nargs="?", help="as `penstock errors list` or `rejected list` shows it [list all]"
    )
    add_output(parser, "an object in a line for each reason")
    parser.set_defaults(run=_run)


def point_to_pages(rows: int) -> None:
    """Tell a person who reads a list of reasons how to read about them."""
    if rows and sys.stderr.isatty():
        print("penstock: `penstock explain REASON` says what to do", file=sys.stderr)


def _run(flags: argparse.Namespace) -> int:
    pages = list_pages() if flags.reason is None else [find_page(flags.reason)]
    for page in pages:
        if flags.output == "json":
            print_json({"reason": page.name, "summary": page.summary, "text": page.text})
        elif flags.reason is None:
            print_line(f"{page.name:<26} {page.summary}")
        else:
            for line in page.text.splitlines():
                print_line(line)
    return 0
