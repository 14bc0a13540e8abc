"""`penstock size`: the parts that a workload needs, and the one that reaches its limit first."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from typing import Final

from penstock.cli import add_output, expect, print_json, print_line, use_answer_codes
from penstock.extensions.cost.flags import add_load, parse_up_to, read_load
from penstock.extensions.cost.prices import read_prices
from penstock.extensions.cost.rates import read_rates
from penstock.extensions.cost.sizing import Sizing, size_platform
from penstock.extensions.cost.sizing_text import format_sizing

HELP = (
    "Size brokers, partitions, functions and the Spark job for a workload, by the rates of "
    "`make bench`, and say which part reaches a limit of AWS first."
)
_EXIT_CODES: Final = """\
exit codes:
  0  every part is within its limit
  1  an error, or wrong usage
  2  a part is beyond its limit
"""
_BEYOND: Final = 2
_MOST_VERSIONS: Final = 1_000_000


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    add_load(parser)
    parser.add_argument(
        "--versions",
        type=expect(partial(parse_up_to, _MOST_VERSIONS), f"a number of 1 to {_MOST_VERSIONS:,}"),
        default=10,
        metavar="N",
        help="versions of all schemas of the registry's region [%(default)s]",
    )
    parser.add_argument(
        "--rows", action="store_true", help="a function writes each record to DynamoDB as well"
    )
    add_output(parser, "the sizes with all items in one line")
    use_answer_codes(parser, _EXIT_CODES)
    parser.set_defaults(run=_run)


def _run(flags: argparse.Namespace) -> int:
    sizing = size_platform(
        read_load(flags), read_prices(), read_rates(), versions=flags.versions, rows=flags.rows
    )
    if flags.output == "json":
        print_json(_to_json(sizing))
    else:
        for line in format_sizing(sizing):
            print_line(line)
    return 0 if sizing.first.share <= 1 else _BEYOND


def _to_json(sizing: Sizing) -> dict[str, object]:
    return {
        "load": sizing.load,
        "versions": sizing.versions,
        "parts": [
            {
                "name": part.name,
                "size": part.size,
                "share": round(part.share, 4),
                "limit": part.limit,
                "hard": part.is_hard,
                "usd": round(part.usd, 2),
            }
            for part in sizing.parts
        ],
        "first": sizing.first.name,
        "usd": round(sizing.usd, 2),
    }
