"""`penstock certificate`: issue the client certificate of a program into its secret."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from functools import partial
from typing import Final

from penstock.cli import Progress, add_output, expect, print_json, print_line
from penstock.extensions.certificates.operation import Order, issue_certificate

HELP = (
    "Issue a TLS client certificate by a private CA, and keep it with a new private key in the "
    "secret of a program, in place of the one before. The key is written to no file."
)
_DAYS: Final = 90
_MOST_DAYS: Final = 3_650


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="the distinguished name, as access lists have it"
    )
    for flag, service in (("--authority", "acm-pca"), ("--secret", "secretsmanager")):
        parser.add_argument(
            flag,
            required=True,
            type=expect(partial(_parse_arn, service), f"an ARN of {service}"),
            metavar="ARN",
            help={"--authority": "the private CA", "--secret": "the program's secret"}[flag],
        )
    parser.add_argument(
        "--authority-role",
        default="",
        metavar="ARN",
        help="a role to assume for the CA, if it is another account's [none]",
    )
    parser.add_argument(
        "--days",
        type=expect(_parse_days, f"a whole number of 1 to {_MOST_DAYS:,}"),
        default=_DAYS,
        metavar="N",
        help="days until it ends [%(default)s]",
    )
    add_output(parser, "an object")
    parser.set_defaults(run=_run)


def _run(flags: argparse.Namespace) -> int:
    order = Order(flags.name, flags.authority, flags.secret, flags.days, flags.authority_role)
    with Progress(prints_lines=False) as bar:
        bar.show("the certificate is issued")
        issued = issue_certificate(order)
    if flags.output == "json":
        print_json(issued)
    else:
        print_line(f"user       {issued.user}")
        print_line(f"valid to   {issued.ends_at:%Y-%m-%d %H:%M} UTC")
        print_line(f"secret     {issued.secret_arn}")
    return 0


def _parse_arn(service: str, text: str) -> str:
    if not re.fullmatch(rf"arn:[a-z-]+:{service}:[a-z0-9-]+:[0-9]{{12}}:.+", text):
        raise ValueError(text)
    return text


def _parse_days(text: str) -> int:
    days = int(text)
    if not 1 <= days <= _MOST_DAYS:
        raise ValueError(text)
    return days
