"""`penstock doctor`: the first cause of a broken path from the brokers to the tables."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from penstock.cli import (
    ROOTS,
    Progress,
    add_output,
    find_root,
    print_json,
    print_line,
    use_answer_codes,
)
from penstock.extensions.doctor.accounts import Login, World, open_accounts
from penstock.extensions.doctor.deployment import read_deployment
from penstock.extensions.doctor.findings import Side
from penstock.extensions.doctor.installed import list_hops
from penstock.extensions.doctor.operation import examine
from penstock.extensions.doctor.text import describe
from penstock.kafka import KafkaSettings

HELP = (
    "Look at each hop between the brokers and the tables of a consumer, in both accounts, and name "
    "the first cause of what does not work. It only reads."
)
_PRODUCER, _CONSUMER = ROOTS["producer"], ROOTS["consumer"]
_CODES: Final = """\
exit codes:
  0  nothing is broken in the hops that were looked at
  1  an error, or wrong usage
  2  something is broken
"""


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    for flag, metavar, meaning in (
        (
            "--consumer",
            "ROOT",
            f"the consumer's Terraform root [without the other two: the variable {_CONSUMER}, else "
            f"that of the producer, {_PRODUCER}, else infra/consumer]",
        ),
        ("--contract", "FILE", "a contract in place of the consumer's root: network and schemas"),
        ("--producer", "ROOT", "the producer's Terraform root: its functions and contracts too"),
    ):
        parser.add_argument(flag, type=Path, metavar=metavar, help=meaning)
    parser.add_argument("--name", help="the consumer, where --producer alone has several")
    for side in Side:
        parser.add_argument(
            f"--{side}-profile",
            metavar="PROFILE",
            help=f"profile of AWS for the {side}'s account [the process's credentials]",
        )
    parser.add_argument(
        "--connect",
        action="store_true",
        help="on a host in the VPC: also connect, log in, and try the topics and the groups",
    )
    parser.add_argument(
        "--program",
        default="clients",
        help="with --connect: the program of the contract whose login it is [%(default)s]",
    )
    add_output(parser)
    KafkaSettings.add_flags(parser)
    use_answer_codes(parser, _CODES)
    parser.set_defaults(run=partial(_run, environ))


def _run(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    consumer, producer = _choose_roots(flags, environ)
    with Progress(prints_lines=False) as bar:
        bar.show("the hops are looked at")
        deployment = read_deployment(consumer, flags.contract, producer, flags.name)
        profiles = {side: getattr(flags, f"{side}_profile") for side in Side}
        accounts, login = open_accounts(deployment, profiles), _read_login(flags, environ)
        report = examine(World(deployment, accounts, login), list_hops())
    if flags.output == "json":
        print_json(report)
    else:
        for line in describe(report):
            print_line(line)
    return 2 if report.causes else 0


def _choose_roots(
    flags: argparse.Namespace, environ: Mapping[str, str]
) -> tuple[Path | None, Path | None]:
    """Return the consumer's and the producer's root: those of the flags, else of the profile."""
    if flags.consumer or flags.contract or flags.producer:
        return flags.consumer, flags.producer
    if environ.get(_PRODUCER) and not environ.get(_CONSUMER):
        return None, find_root("producer", environ)
    return find_root("consumer", environ), None


def _read_login(flags: argparse.Namespace, environ: Mapping[str, str]) -> Login | None:
    if not flags.connect:
        return None
    return Login(flags.program, KafkaSettings.from_flags(flags, environ))
