"""`penstock contract`: write the contract of a consumer."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from penstock.cli.arguments import add_output, add_root, find_root
from penstock.cli.terminal import print_line
from penstock.cli.values import print_json
from penstock.operations import CONTRACT_FILE, write_contract

HELP = "Write the contract of a consumer from the outputs of the producer's Terraform root."


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.add_argument(
        "consumer", metavar="CONSUMER", help="the name of the consumer, as in the input `consumers`"
    )
    add_root(parser, "producer", environ)
    parser.add_argument(
        "--to",
        type=Path,
        default=find_root("consumer", environ) / CONTRACT_FILE,
        metavar="FILE",
        help="the file to write [%(default)s]",
    )
    add_output(parser)
    parser.set_defaults(run=_run)


def _run(settings: argparse.Namespace) -> int:
    written = write_contract(settings.producer, settings.consumer, settings.to)
    if settings.output == "json":
        print_json({"consumer": written.consumer, "file": written.path})
    else:
        print_line(f"wrote the contract of {written.consumer} to {written.path}")
    return 0
