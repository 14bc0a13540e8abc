"""`penstock lag`: how far consumer groups are behind, once or for Prometheus."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Final

from penstock.cli import add_output, expect, print_json, print_line
from penstock.errors import OperationError
from penstock.extensions.lag.exporter import serve_lags
from penstock.extensions.lag.report import CatchUp, describe_time, estimate_catch_up
from penstock.kafka import KafkaSettings, read_group_lags
from penstock.settings import parse_port, parse_positive

HELP = (
    "Print how many records wait for consumer groups in each partition of the topics that they "
    "have committed offsets of, and the time to catch up at the speed of the next seconds. With "
    "--listen, answer Prometheus instead. Groups are those that the login may describe; Spark jobs "
    "commit no offsets."
)
_SECONDS: Final = 5.0
_COLUMNS: Final = "{:<30} {:<24} {:>9} {:>10}  {}"


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="groups [all]")
    parser.add_argument(
        "--seconds",
        type=expect(parse_positive, "a number above 0"),
        default=_SECONDS,
        metavar="N",
        help="seconds between two looks, for the time to catch up [%(default)s]",
    )
    parser.add_argument(
        "--listen",
        type=expect(_parse_address, "HOST:PORT"),
        metavar="HOST:PORT",
        help="answer Prometheus there, at /metrics, until ctrl-C",
    )
    add_output(parser, "a line for each group and partition")
    KafkaSettings.add_flags(parser)
    parser.set_defaults(run=partial(_run, environ))


def _run(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    settings = KafkaSettings.from_flags(flags, environ)
    if flags.listen:
        serve_lags(flags.listen, lambda: read_group_lags(settings, flags.groups))
        return 0
    before, started = read_group_lags(settings, flags.groups), time.monotonic()
    time.sleep(flags.seconds)
    now = read_group_lags(settings, flags.groups)
    found = estimate_catch_up(before, now, time.monotonic() - started)
    if flags.output == "json":
        for each in found:
            print_json(_to_json(each))
    else:
        _print(found)
    known = {each.group for each in now}
    if missing := [name for name in flags.groups if name not in known]:
        raise OperationError(
            f"no offset is committed by {', '.join(missing)}, expected groups that have some; "
            "without a name, `penstock lag` shows all of them"
        )
    return 0


def _print(found: list[CatchUp]) -> None:
    print_line(_COLUMNS.format("group", "topic", "partition", "lag", "time to catch up"))
    for each in found:
        lag, time_left = each.lag, describe_time(each)
        print_line(_COLUMNS.format(lag.group, lag.topic, lag.partition, lag.records, time_left))


def _to_json(each: CatchUp) -> dict[str, object]:
    return {**asdict(each.lag), "lag": each.lag.records, "catchUpSeconds": each.seconds}


def _parse_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host:
        raise ValueError(text)
    return host, parse_port(port)
