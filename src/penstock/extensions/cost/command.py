"""`penstock cost`: what a workload costs a month on MSK and on Kinesis."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from penstock.cli import add_output, print_json, print_line, use_answer_codes
from penstock.extensions.cost.flags import add_load, read_load
from penstock.extensions.cost.operation import Estimate, estimate_cost
from penstock.extensions.cost.text import format_estimate
from penstock.operations import write_text

HELP = (
    "Estimate a month of MSK as it is built here, MSK Serverless, and Kinesis Data Streams with "
    "shards and on demand, for a workload, and the rates from which another one is cheaper."
)
_EXIT_CODES: Final = """\
exit codes:
  0  estimated
  1  an error, or wrong usage
"""


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    add_load(parser)
    parser.add_argument(
        "--fan-out",
        action="store_true",
        help="consumers of Kinesis use enhanced fan-out even if shared reads are enough",
    )
    parser.add_argument("--items", action="store_true", help="print each item and its price too")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="write a plot of the costs by rate, as SVG"
    )
    add_output(parser, "the estimate with all items in one line")
    use_answer_codes(parser, _EXIT_CODES)
    parser.set_defaults(run=_run)


def _run(flags: argparse.Namespace) -> int:
    estimate = estimate_cost(replace(read_load(flags), fan_out=flags.fan_out))
    if flags.plot:
        write_text(flags.plot, estimate.plot)
    if flags.output == "json":
        print_json(_to_json(estimate))
    else:
        for line in format_estimate(estimate, with_items=flags.items):
            print_line(line)
    return 0


def _to_json(estimate: Estimate) -> dict[str, object]:
    return {
        "load": estimate.load,
        "region": estimate.prices.region,
        "date": estimate.prices.date.isoformat(),
        "carriers": [
            {
                "name": carrier.name,
                "size": carrier.size,
                "usd": carrier.usd,
                "problem": carrier.problem,
                "items": [
                    {
                        "part": item.part,
                        "what": item.what,
                        "count": item.count,
                        "hours": item.hours,
                        "usd": item.usd,
                        "price": item.price,
                    }
                    for item in carrier.items
                    if item.count
                ],
            }
            for carrier in estimate.carriers
        ],
        "cheapest": estimate.cheapest,
        "cheaper": [
            {"than": other, "events": events} for other, events in estimate.cheaper_from.items()
        ],
    }
