"""`penstock cdc`: list, check and explain connectors, and count rows of their tables."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from penstock.aws import Athena, Fault, ask_all_pages, classify
from penstock.cli import add_output, add_root, expect, print_json, print_line, use_answer_codes
from penstock.credentials import load_session
from penstock.errors import OperationError
from penstock.extensions.cdc.connector import check_connector, find_reason
from penstock.extensions.cdc.count import State, count_rows, name_lake_tables
from penstock.extensions.cdc.status import list_connectors
from penstock.operations import read_json, read_output, read_text
from penstock.reasons import find_page
from penstock.settings import Settings, parse_positive, setting
from penstock.tables import TABLE

HELP = "List connectors, check settings, explain an error, or count the rows of captured tables."
_LIST = (
    "List the connectors of MSK Connect that capture changes, with their states, their alarms and"
    " the pages of what stops them."
)
_CHECK = (
    "Check the settings of a connector of Debezium for jobs/cdc.py, among them names of earlier"
    " versions, which Debezium ignores."
)
_EXPLAIN = "Print the page of what stops a connector, found by its status or its log."
_COUNT = (
    "Compare the rows of tables in PostgreSQL, by psql, with those of the lake, by Athena, as of a"
    " place in the database's log."
)
_CODES: Final = {
    "list": ("no connector has stopped", "one has stopped, is paused or has an alarm"),
    "check": ("nothing is wrong", "something is wrong"),
    "explain": ("explained", "no error is known"),
    "count": ("the tables are equal", "tables are not equal when the time is over"),
}
_WAIT_SECONDS: Final = 60.0
_CONNECTORS: Final = "{:<40} {:<12} {:<24} {}"
_COLUMNS: Final = "{:<30} {:>12} {:>12}  {}"


@dataclass(frozen=True, slots=True)
class CountSettings(Settings):
    """The work group of Athena, and the names of the tables of the lake."""

    workgroup: str = setting("PENSTOCK_WORKGROUP", "work group of Athena that queries the lake")
    current_table: str = setting(
        "PENSTOCK_CURRENT_TABLE", f"tables of the lake, as DATABASE.TABLE with {TABLE} in it"
    )


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    commands = parser.add_subparsers(required=True, metavar="list|check|explain|count")
    _add_list(commands, environ)
    check = commands.add_parser("check", help=_CHECK, description=_CHECK)
    check.add_argument("file", type=Path, metavar="FILE", help="JSON with the settings")
    add_output(check)
    check.set_defaults(run=_run_check)
    explain = commands.add_parser("explain", help=_EXPLAIN, description=_EXPLAIN)
    explain.add_argument("file", type=Path, metavar="FILE", help="the status as JSON, or the log")
    add_output(explain)
    explain.set_defaults(run=_run_explain)
    count = commands.add_parser("count", help=_COUNT, description=_COUNT)
    count.add_argument(
        "tables", nargs="+", metavar="SCHEMA.TABLE", type=expect(_parse_table, "SCHEMA.TABLE")
    )
    count.add_argument(
        "--database",
        required=True,
        metavar="CONNECTION",
        help="as psql takes it: 'host=... dbname=... user=...'; the password is in PGPASSWORD",
    )
    count.add_argument(
        "--topics", required=True, metavar="PREFIX", help="the connector's topic.prefix"
    )
    count.add_argument(
        "--wait",
        type=expect(parse_positive, "a number above 0"),
        default=_WAIT_SECONDS,
        metavar="SECONDS",
        help="for the job to follow [%(default)s]",
    )
    add_output(count, "a line for each table")
    CountSettings.add_flags(count)
    count.set_defaults(run=partial(_run_count, environ))
    for name, (well, found) in _CODES.items():
        codes = f"exit codes:\n  0  {well}\n  1  an error, or wrong usage\n  2  {found}\n"
        use_answer_codes(commands.choices[name], codes)


def _add_list(commands: Any, environ: Mapping[str, str]) -> None:
    listing = commands.add_parser("list", help=_LIST, description=_LIST)
    add_root(listing, "producer", environ)
    add_output(listing, "an object in a line for each connector")
    listing.set_defaults(run=_run_list)


def _run_list(arguments: argparse.Namespace) -> int:
    platform = read_output(arguments.producer, "platform")
    ask = partial(_call_aws, load_session(region=platform["region"]))
    account = ask("sts", "get_caller_identity")["Account"]
    if account != platform["account_id"]:
        raise OperationError(
            f"the credentials are of account {account}, expected {platform['account_id']}, the"
            f" account of {arguments.producer}"
        )
    found = list(list_connectors(platform["prefix"], ask))
    if arguments.output == "json":
        for each in found:
            print_json(each)
    else:
        print_line(_CONNECTORS.format("CONNECTOR", "STATE", "REASON", "ALARMS"))
        for each in found:
            alarms = ", ".join(each.alarms)
            print_line(_CONNECTORS.format(each.name, each.state, each.reason, alarms))
    return 2 if any(each.reason for each in found) else 0


def _call_aws(session: Session, service: str, operation: str, **words: Any) -> Any:
    """Return the whole answer of an operation; None if there is no such resource."""
    try:
        return ask_all_pages(session.create_client(service), operation, **words)
    except (BotoCoreError, ClientError) as error:
        fault = classify(error)
        if fault is Fault.MISSING:
            return None
        if fault is Fault.DENIED:
            raise OperationError(f"{service} refused {operation}: {error}") from error
        raise OperationError(f"{service} does not answer: {error}") from error


def _run_check(arguments: argparse.Namespace) -> int:
    found = list(check_connector(_read_settings(arguments.file)))
    if arguments.output == "json":
        print_json({"file": arguments.file, "problems": found})
    else:
        for each in found or [f"{arguments.file} is valid"]:
            print_line(each)
    return 2 if found else 0


def _run_explain(arguments: argparse.Namespace) -> int:
    reason = find_reason(read_text(arguments.file))
    page = find_page(reason) if reason else None
    if arguments.output == "json":
        summary = page.summary if page else None
        print_json({"file": arguments.file, "reason": reason, "summary": summary})
    else:
        said = page.text if page else f"{arguments.file} has no error that is known"
        for line in said.splitlines():
            print_line(line)
    return 0 if page else 2


def _run_count(environ: Mapping[str, str], arguments: argparse.Namespace) -> int:
    settings = CountSettings.from_flags(arguments, environ)
    names = name_lake_tables(arguments.tables, arguments.topics, settings.current_table)
    athena = Athena(settings.workgroup, _WAIT_SECONDS)
    counts = count_rows(arguments.database, athena, names, arguments.wait)
    if arguments.output == "json":
        for each in counts:
            print_json({**asdict(each), "lake_table": names[each.table], "state": each.state})
    else:
        print_line(f"as of {counts[0].lsn} in the log of the database")
        print_line(_COLUMNS.format("TABLE", "ROWS", "IN THE LAKE", ""))
        for each in counts:
            found = "" if each.found is None else each.found
            print_line(_COLUMNS.format(each.table, each.rows, found, each.state))
    return 0 if all(each.state is State.EQUAL for each in counts) else 2


def _parse_table(text: str) -> str:
    schema, _, table = text.partition(".")
    if not schema or not table:
        raise ValueError(text)
    return text


def _read_settings(file: Path) -> Mapping[str, str]:
    """Return the settings in a file, with or without the name of the connector around them."""
    found = read_json(file)
    settings = found.get("config", found) if isinstance(found, dict) else None
    if not isinstance(settings, dict):
        raise OperationError(f"{file} is no object, expected an object of settings")
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in settings.items()
        if value is not None  # as a setting that is not there
    }
