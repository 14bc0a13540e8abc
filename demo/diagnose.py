"""Find what keeps records from becoming rows, by `penstock doctor` and the logs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from botocore.session import Session

from demo.accounts import REGION, Account
from demo.screen import StepFailedError
from penstock.extensions.doctor import (
    Accounts,
    Deployment,
    Side,
    World,
    describe_causes,
    examine,
    list_hops,
)

_LEVELS = ("ERROR", "WARNING", "CRITICAL")
_ENDED = ("Task timed out", "Runtime exited")
_OF_ALL_LINES = frozenset({"level", "location", "message", "service", "timestamp", "cold_start"})
_LAST_LINES = 8


def diagnose_rows(
    producer: Account, consumer: Account, contract: dict[str, Any], made: dict[str, Any]
) -> StepFailedError:
    """Return the first cause between the brokers and the function `made`, else its log."""
    function = made["name"]
    lines = choose_lines(consumer.local.read_log(function))
    where = f"{consumer.where}, function {function}"
    return _examine(producer, consumer, contract, StepFailedError(where, "it wrote no row", lines))


def diagnose_job(
    producer: Account, consumer: Account, contract: dict[str, Any], run: dict[str, Any]
) -> StepFailedError:
    """Return the first cause before a job run, else how the run ended."""
    name = run["jobRunId"]
    lines = [f"its log: .venv/bin/python -m localcloud logs {name} --once"]
    why = f"{run['state']} {run['stateDetails']}".strip()
    ended = StepFailedError(f"{consumer.where}, job run {name}", why, lines)
    return _examine(producer, consumer, contract, ended)


def choose_lines(log: Sequence[str]) -> list[str]:
    """Return the last lines of a function's log about a failure, one line each, without traces."""
    chosen = [line for line in map(_shorten, log) if line]
    return list(dict.fromkeys(chosen))[-_LAST_LINES:]


def _examine(
    producer: Account, consumer: Account, contract: dict[str, Any], otherwise: StepFailedError
) -> StepFailedError:
    """Return the first causes that the doctor names, with the lines of `otherwise`; else that."""
    roots = {Side.PRODUCER: producer, Side.CONSUMER: consumer}
    folders = {side: str(root.folder) for side, root in roots.items()}
    outputs = {side: root.outputs() for side, root in roots.items()}
    sessions = {side: _open_session(root) for side, root in roots.items()}
    accounts = Accounts(sessions, endpoint=consumer.local.endpoint)
    report = examine(World(Deployment(contract, outputs, folders), accounts), list_hops())
    if not report.causes:
        return otherwise
    first = report.causes[0]
    where = f"{roots[first.side].where}, {first.hop}"
    lines = [*describe_causes(report), *otherwise.lines]
    return StepFailedError(where, f"{first.about}: {first.seen}", lines)


def _open_session(root: Account) -> Session:
    session = Session()
    session.set_credentials(root.id, "localcloud")
    session.set_config_variable("region", REGION)
    return session


def _shorten(line: str) -> str:
    if line.startswith("{"):
        entry = json.loads(line)
        if entry.get("level") not in _LEVELS:
            return ""
        more = [
            f"{name}={value}"
            for name, value in entry.items()
            if name not in _OF_ALL_LINES and not name.startswith(("function_", "xray_")) and value
        ]
        return " ".join([entry["level"], entry["message"], *more])
    if any(line.startswith(f"[{level}]") for level in _LEVELS) or any(
        end in line for end in _ENDED
    ):
        return line.splitlines()[0]  # Lambda writes a trace after it
    return ""
