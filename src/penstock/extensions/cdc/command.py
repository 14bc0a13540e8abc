"""`penstock cdc`: check the settings of a connector, and explain its error."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.cli import add_output, print_json, print_line
from penstock.errors import OperationError
from penstock.extensions.cdc.connector import check_connector, explain_failure

HELP = "Check the settings of a connector for change data capture, or explain its error."
_CHECK = (
    "Check the settings of a connector of Debezium for jobs/cdc.py, among them names of earlier"
    " versions, which Debezium ignores. Exit code 2 if something is wrong."
)
_EXPLAIN = (
    "Say what the error of a connector means and what to do, from its status or its log. Exit code"
    " 2 if no error is known."
)


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    commands = parser.add_subparsers(required=True, metavar="check|explain")
    check = commands.add_parser("check", help=_CHECK, description=_CHECK)
    check.add_argument("file", metavar="FILE", help="JSON with the settings")
    add_output(check)
    check.set_defaults(run=_run_check)
    explain = commands.add_parser("explain", help=_EXPLAIN, description=_EXPLAIN)
    explain.add_argument("file", metavar="FILE", help="the status as JSON, or the log")
    add_output(explain)
    explain.set_defaults(run=_run_explain)


def _run_check(arguments: argparse.Namespace) -> int:
    found = list(check_connector(_read_settings(arguments.file)))
    if arguments.output == "json":
        print_json({"file": arguments.file, "problems": found})
    else:
        for each in found or [f"{arguments.file} is valid"]:
            print_line(each)
    return 2 if found else 0


def _run_explain(arguments: argparse.Namespace) -> int:
    meaning = explain_failure(Path(arguments.file).read_text())
    if arguments.output == "json":
        print_json({"file": arguments.file, "meaning": meaning})
    else:
        print_line(meaning or f"{arguments.file} has no error that is known")
    return 0 if meaning else 2


def _read_settings(file: str) -> Mapping[str, str]:
    """Return the settings in a file, with or without the name of the connector around them."""
    try:
        found: Any = json.loads(Path(file).read_text())
    except (OSError, ValueError) as error:
        raise OperationError(f"{file} cannot be read as JSON: {error}") from error
    settings = found.get("config", found) if isinstance(found, dict) else None
    if not isinstance(settings, dict):
        raise OperationError(f"{file} is {type(found).__name__}, expected an object of settings")
    return {name: str(value) for name, value in settings.items()}
