"""The connectors of MSK Connect in the producer's account: their states, and what stops them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.extensions.cdc.connector import find_reason

PAUSED: Final = "capture-paused"
_CHANGES: Final = ("CREATING", "UPDATING", "RESTARTING", "PAUSING", "RESUMING", "DELETING")
_STORAGE: Final = "free-storage"
_STOPPED: Final = "stopped"
_ALARMS: Final = ("failed", _STORAGE, "retained-log", _STOPPED)
_MINUTES: Final = 15  # of its log, up to now; a connector is new for so long
_ERRORS: Final = '?ERROR ?Caused ?FATAL ?PANIC ?"obtain valid replication slot"'

Ask = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector: its state, its alarms, and the page of what stops it.

    There is no page for one without an alarm that runs or is on its way to another state.
    """

    name: str
    arn: str
    state: str
    alarms: tuple[str, ...] = ()
    reason: str = ""


def list_connectors(prefix: str, ask: Ask) -> Iterator[Connector]:
    """Yield the connectors that capture changes.

    Args:
        prefix: that of the platform's names.
        ask: calls an operation that reads: a service, its name, and its arguments; the answer is
            None if there is no such resource.
    """
    found = ask("kafkaconnect", "list_connectors", connectorNamePrefix=f"{prefix}-cdc-") or {}
    for each in found.get("connectors", []):
        yield _read_connector(each, ask)


def _read_connector(shown: Mapping[str, Any], ask: Ask) -> Connector:
    name, arn, state = (shown[f"connector{part}"] for part in ("Name", "Arn", "State"))
    names = [f"{name}-{alarm}" for alarm in _ALARMS]
    found = (ask("cloudwatch", "describe_alarms", AlarmNames=names) or {}).get("MetricAlarms", [])
    # An alarm without data tells that the connector is gone, as it counts no tasks then. A new one
    # counts none yet.
    is_new = time.time() - shown["creationTime"].timestamp() < _MINUTES * 60
    silent = "" if is_new or state in _CHANGES else f"{name}-{_STOPPED}"
    ringing = tuple(
        each["AlarmName"]
        for each in found
        if each["StateValue"] == "ALARM"
        or (each["StateValue"] == "INSUFFICIENT_DATA" and each["AlarmName"] == silent)
    )
    if state == "PAUSED":
        return Connector(name, arn, state, ringing, PAUSED)
    if state in {"RUNNING", *_CHANGES} and not ringing:
        return Connector(name, arn, state)
    return Connector(name, arn, state, ringing, _find_reason(name, ringing, ask))


def _find_reason(name: str, ringing: Sequence[str], ask: Ask) -> str:
    """Return the page of what stops a connector; a full disk is in the log of the database only."""
    if f"{name}-{_STORAGE}" in ringing:
        return "capture-disk-full"
    return find_reason(_read_errors(name, ask)) or "capture-stopped"


def _read_errors(name: str, ask: Ask) -> str:
    since = int(time.time() - _MINUTES * 60) * 1000
    group = f"/aws/mskconnect/{name}"
    found = ask(
        "logs", "filter_log_events", logGroupName=group, filterPattern=_ERRORS, startTime=since
    )
    return "\n".join(each["message"] for each in (found or {}).get("events", []))
