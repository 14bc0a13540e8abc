"""The hop of `penstock doctor` for the connectors of MSK Connect in the producer's account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.extensions.cdc.status import PAUSED, Ask, Connector, list_connectors


def look(outputs: Mapping[str, Any], ask: Ask) -> Iterator[dict[str, Any]]:
    """Yield a finding for each connector: its state, or why it stopped, by the page's name.

    Args:
        outputs: the outputs of the producer's root.
        ask: calls an operation that reads: a service, its name, and its arguments.
    """
    yield from map(_describe_connector, list_connectors(outputs["platform"]["prefix"], ask))


def _describe_connector(found: Connector) -> dict[str, Any]:
    if not found.reason:
        return {"seen": f"{found.name} is {found.state}"}
    is_paused = found.reason == PAUSED
    verb = "resume" if is_paused else "restart"
    alarms = f" with the alarms {', '.join(found.alarms)}" if found.alarms else ""
    return {
        "code": found.reason,
        "about": found.name,
        "seen": f"{found.state}{alarms}",
        "expected": "RUNNING without an alarm",
        "mend": f"aws kafkaconnect {verb}-connector --connector-arn {found.arn}",
        "is_symptom": not is_paused,
    }
