"""`penstock errors`: list the dead letters of a consumer, show one, and retry them."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from penstock.cli._explain import point_to_pages
from penstock.cli._submit import add_submission, submit
from penstock.cli.arguments import add_from_environ, add_output
from penstock.cli.terminal import Progress, Table, print_line, printable
from penstock.cli.values import describe_bytes, describe_headers, print_json, show_moment
from penstock.operations import list_dead_letters, read_dead_letter
from penstock.settings import Settings, describe_settings
from penstock.sinks import DeadLetter, SelectionSettings, account_tables_setting

HELP = "List the dead letters of a consumer, show one, or retry them with the replay job."
_LIST = (
    "List the dead letters that are neither done nor parked: id, time, retries, owner, reason, "
    "detail. A record that the function and a job gave up has a line of each."
)
_SHOW = (
    "Show one dead letter as JSON, with the bytes of its record, and the reasons of its other "
    "owners; --output json uses one line."
)
_REPLAY = "Submit the replay job, which retries dead letters, to EMR Serverless."
_TABLE = "PENSTOCK_ERRORS_TABLE"
_BUCKET = "PENSTOCK_PARKED_BUCKET"
_JOB = "consume"
_COLUMNS = "{:<44} {:<24} {:>7}  {:<6} {:<23} {}"


@dataclass(frozen=True, slots=True)
class _Account(Settings):
    """All dead-letter tables of the account."""

    tables: tuple[str, ...] = account_tables_setting()


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the three commands and their arguments."""
    commands = parser.add_subparsers(required=True, metavar="list|show|replay")
    listing = commands.add_parser("list", help=_LIST, description=_LIST)
    add_output(listing, "an object in a line for each row")
    listing.set_defaults(run=partial(_run_list, environ))
    show = commands.add_parser("show", help=_SHOW, description=_SHOW)
    show.add_argument("id", metavar="ID", help="its id, as list prints it")
    add_from_environ(
        show, "--bucket", _BUCKET, "the bucket with bytes too large for the table", environ
    )
    add_output(show)
    show.set_defaults(run=_run_show)
    for command in (listing, show):
        add_from_environ(command, "--table", _TABLE, "the dead-letter table", environ)
    replay = commands.add_parser("replay", help=_REPLAY, description=_REPLAY)
    add_submission(replay, environ)
    replay.add_argument(
        "--job",
        default=_JOB,
        metavar="NAME",
        help="the job whose replay is submitted [%(default)s]",
    )
    replay.set_defaults(run=partial(_run_replay, environ))
    for command in (listing, replay):
        SelectionSettings.add_flags(command)


def _run_list(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    selection = SelectionSettings.from_flags(flags, environ).select(int(time.time()))
    if others := sorted({*_Account.from_environ(environ).tables} - {flags.table}):
        note = f"penstock: the dead letters of {flags.table}; --table lists {', '.join(others)}"
        print(printable(note), file=sys.stderr)
    table = Table(_COLUMNS, "ID", "WHEN", "RETRIES", "OWNER", "REASON", "DETAIL")
    with Progress() as bar:
        bar.show("rows", 0)
        for number, row in enumerate(list_dead_letters(flags.table, selection), 1):
            if flags.output == "json":
                print_json(_make_json(row))
            else:
                when = show_moment(row.first_seen_ms)
                table.add(row.id, when, row.attempts, row.stage, row.reason, row.detail)
            bar.show("rows", number)
    if flags.output == "text":
        table.close()
        point_to_pages(table.rows)
    return 0


def _run_show(flags: argparse.Namespace) -> int:
    """Print a dead letter; return 1 if the bytes of its record are lost."""
    row, others = read_dead_letter(flags.table, flags.bucket, flags.id)
    described = _make_json(row) | {
        "others": list(map(_describe_owner, others)),
        "key": describe_bytes(row.key),
        "headers": describe_headers(row.headers),
        "value": describe_bytes(row.value),
        "lost": row.lost or None,
    }
    if flags.output == "json":
        print_json(described)
    else:
        for line in json.dumps(described, indent=2).splitlines():
            print_line(line)
    return 1 if row.lost else 0


def _run_replay(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    SelectionSettings.from_flags(flags, environ)  # raises before a job starts
    words = [
        word
        for row in describe_settings(SelectionSettings)
        if (value := getattr(flags, row.flag.removeprefix("--")) or environ.get(row.variable))
        for word in (row.flag, value)
    ]
    name = "replay" if flags.job == _JOB else f"replay-{flags.job}"
    return submit(flags, name, words)


def _describe_owner(row: DeadLetter) -> dict[str, Any]:
    """Return who else gave the record up, and why."""
    return {
        "id": row.id,
        "stage": row.stage,
        "reason": row.reason,
        "detail": row.detail,
        "settled": row.settled,
    }


def _make_json(row: DeadLetter) -> dict[str, Any]:
    """Return a row as JSON, without the bytes of its record."""
    due = row.next_attempt_s
    return {
        "id": row.id,
        "topic": row.source.topic,
        "partition": row.source.partition,
        "offset": row.source.offset,
        "kafkaTimestamp": show_moment(row.kafka_timestamp_ms),
        "reason": row.reason,
        "detail": row.detail,
        "schemaId": row.schema_id,
        "stage": row.stage,
        "firstSeen": show_moment(row.first_seen_ms),
        "retries": row.attempts,
        "nextRetryAt": None if due is None else show_moment(due * 1_000),
        "driver": row.driver or None,
        "waitingFor": list(row.waiting_for),
    }
