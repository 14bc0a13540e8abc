"""`penstock topics`: the topics of a cluster, with the offsets that each partition has."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from typing import Final

from penstock.cli import Progress, add_output, print_json, print_line, show_moment
from penstock.kafka import KafkaSettings, read_offsets

HELP = (
    "List the topics that the login may describe: their partitions, the first and the next offset "
    "of each, and the time of the first record that Kafka keeps. Offsets of deleted records and of "
    "ends of transactions count too."
)
_COLUMNS: Final = "{:<40} {:>9} {:>14} {:>14} {:>14}  {}"


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="topics [all]")
    add_output(parser, "an object in a line for each partition")
    KafkaSettings.add_flags(parser)
    parser.set_defaults(run=partial(_run, environ))


def _run(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    settings = KafkaSettings.from_flags(flags, environ)
    with Progress(prints_lines=False) as bar:
        bar.show("topics are listed")
        found = read_offsets(settings, flags.topics or None)
    if flags.output == "text":
        print_line(_COLUMNS.format("TOPIC", "PARTITION", "BEGIN", "END", "OFFSETS", "FIRST RECORD"))
    for each in found:
        first = None if each.first_ms is None else show_moment(each.first_ms)
        if flags.output == "json":
            place = {"topic": each.topic, "partition": each.partition}
            print_json({**place, "begin": each.begin, "end": each.end, "firstRecordAt": first})
        else:
            offsets = (each.begin, each.end, each.end - each.begin)
            print_line(_COLUMNS.format(each.topic, each.partition, *offsets, first or "-"))
    return 0
