"""`penstock trace`: the way of one event."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from penstock.cli import (
    HOST_COMMAND,
    ROOTS,
    Progress,
    add_output,
    add_outputs,
    expect_count,
    print_json,
    print_line,
    use_answer_codes,
)
from penstock.errors import OperationError, SettingsError
from penstock.extensions.trace.operation import Places, Tracer
from penstock.extensions.trace.settings import TraceSettings
from penstock.extensions.trace.text import list_lines, to_json
from penstock.extensions.trace.topic import BrokerTopics, HostTopics, Topics
from penstock.kafka import KafkaSettings
from penstock.operations import Programs, load_programs

HELP = (
    "Follow one event: its record, frame and schema version, its row in DynamoDB, its file and "
    "snapshot in the lake, or its dead letter or rejected event, with the times between. It only "
    "reads."
)
_CODES: Final = """\
exit codes:
  0  nothing is missing in the steps that were looked at
  1  an error, or wrong usage
  2  the event was given up, or is not where it should be
"""
_ROOT: Final = ROOTS["consumer"]


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.add_argument(
        "id",
        nargs="?",
        metavar="ID",
        help="topic/partition/offset, the id of a dead letter, the sort key of a row, or the key "
        "of a rejected event",
    )
    parser.add_argument("--topic", help="in place of ID, the topic of the newest record with --key")
    parser.add_argument("--key", help="the key of a record, as text")
    parser.add_argument(
        "--last",
        type=expect_count(),
        default=10_000,
        metavar="N",
        help="offsets of each partition in which the key is looked for [%(default)s]",
    )
    add_outputs(
        parser,
        "a file of `terraform output -json` of the consumer's root, which names its tables "
        f"[the root of the variable {_ROOT}]",
    )
    parser.add_argument(
        "--host",
        default=environ.get(HOST_COMMAND, ""),
        metavar="COMMAND",
        help="runs a shell command, its last argument, on a host that reaches the brokers; "
        f"`penstock read` runs there [the variable {HOST_COMMAND}]",
    )
    add_output(parser)
    TraceSettings.add_flags(parser)
    KafkaSettings.add_flags(parser)
    use_answer_codes(parser, _CODES)
    parser.set_defaults(run=partial(_run, environ, parser))


def _run(
    environ: Mapping[str, str], parser: argparse.ArgumentParser, flags: argparse.Namespace
) -> int:
    by_key = flags.topic is not None and flags.key is not None
    if (flags.id is None) != by_key or (not by_key and (flags.topic or flags.key)):
        parser.error("expected either an ID, or --topic and --key")
    settings = TraceSettings.from_flags(flags, environ)
    with Progress(prints_lines=False) as bar:
        bar.show("the steps are looked at")
        tracer = Tracer(
            Places(
                _open_topics(environ, flags),
                settings.load(),
                _read_programs(environ, flags),
                settings.errors_tables,
                settings.rejected_bucket,
                flags.used_profile.name,
            )
        )
        if by_key:
            found = tracer.trace_key(flags.topic, flags.key, flags.last)
        else:
            found = tracer.trace(flags.id)
    if flags.output == "json":
        print_json(to_json(found))
    else:
        for line in list_lines(found):
            print_line(line)
    return 2 if found.is_open else 0


def _open_topics(environ: Mapping[str, str], flags: argparse.Namespace) -> Topics | str:
    """Return where records are read, or why they cannot be."""
    if flags.host:
        return HostTopics(flags.host, flags.used_profile.name, flags.own_environ)
    try:
        return BrokerTopics(KafkaSettings.from_flags(flags, environ))
    except SettingsError as error:
        return "; ".join(error.problems)


def _read_programs(environ: Mapping[str, str], flags: argparse.Namespace) -> Programs | str:
    """Return the programs and their tables, or why they are not known."""
    if flags.outputs:
        return load_programs(flags.outputs)
    if not (root := environ.get(_ROOT)):
        return f"the tables are named by the consumer's root: --outputs, or a profile with {_ROOT}"
    try:
        return load_programs([Path(root)])
    except OperationError as error:
        return str(error)
