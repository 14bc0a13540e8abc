"""EventBridge: the events of localcloud's services go to the topics of moto's rules."""

from __future__ import annotations

import json
import logging
import re
import uuid
from typing import Any

from moto.events.models import events_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.metrics import clock
from localcloud.notices import NotPublishedError, publish

_PATH = re.compile(r"\$(\.[A-Za-z0-9_-]+)+")
_log = logging.getLogger(__name__)


@operation("events", "PutTargets")
def put_targets(call: Call) -> HttpAnswer:
    """Let moto store the targets, if they are topics: nothing else is delivered here."""
    for target in call.params["Targets"]:
        if "InputPath" in target:
            said = f"localcloud delivers no InputPath; found {target['InputPath']}"
            raise AwsError("ValidationException", f"{said}, expected an InputTransformer")
        if target["Arn"].split(":")[2] != "sns":
            raise AwsError(
                "ValidationException",
                f"localcloud delivers events to SNS topics only; found the target {target['Arn']}",
            )
        for path in target.get("InputTransformer", {}).get("InputPathsMap", {}).values():
            if not _PATH.fullmatch(path):
                said = f"localcloud knows paths of names such as $.detail.state, not {path}"
                raise AwsError("ValidationException", said)
    return call.forward()


def send_event(account: str, region: str, source: str, kind: str, detail: dict[str, Any]) -> None:
    """Send an event of a service to the targets of the rules that match it."""
    now = clock.now()
    event: dict[str, Any] = {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": kind,
        "source": source,
        "account": account,
        "time": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "region": region,
        "resources": [],
        "detail": detail,
    }
    bus = events_backends[account][region].describe_event_bus("default")
    for rule in list(bus.rules.values()):
        if rule.state == "ENABLED" and rule.event_pattern.matches_event(event):  # type: ignore[arg-type]
            for target in list(rule.targets):
                _deliver(rule.name, target, event)


def _deliver(rule: str, target: dict[str, Any], event: dict[str, Any]) -> None:
    try:
        publish(target["Arn"], "events.amazonaws.com", {}, "", _write_message(target, event))
    except NotPublishedError as error:
        _log.warning("the event of the rule %s was not delivered: %s", rule, error)


def _write_message(target: dict[str, Any], event: dict[str, Any]) -> str:
    transformer = target.get("InputTransformer")
    if transformer is None:
        return str(target.get("Input") or json.dumps(event))
    message = str(transformer["InputTemplate"])
    for name, path in transformer.get("InputPathsMap", {}).items():
        message = message.replace(f"<{name}>", _find_value(event, path))
    return message


def _find_value(event: dict[str, Any], path: str) -> str:
    found: Any = event
    for part in path.split(".")[1:]:
        found = found.get(part, "") if isinstance(found, dict) else ""
    return found if isinstance(found, str) else json.dumps(found)
