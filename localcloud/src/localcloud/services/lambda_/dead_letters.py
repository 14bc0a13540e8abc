"""The dead-letter queues and topics of functions, which moto does not keep."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer
from localcloud.identity.permissions import may
from localcloud.identity.roles import is_role_arn

_ACTIONS = {"sqs": "SendMessage", "sns": "Publish"}


@dataclass(slots=True)
class DeadLetters:
    """The dead-letter targets of an account's functions in a region, by function name."""

    targets: dict[str, str] = field(default_factory=dict)


def check_target(call: Call, role_arn: str) -> None:
    """Raise AwsError if the function's role must not write to the target, as AWS does."""
    target = _asked(call)
    if not target:
        return
    service = target.split(":")[2]
    if service not in _ACTIONS:
        raise _refuse(f"the dead-letter target is {target}, expected the ARN of a queue or a topic")
    action = f"{service}:{_ACTIONS[service]}"
    if is_role_arn(role_arn) and not may(role_arn, action, target):
        raise _refuse(
            "The provided execution role does not have permissions to call "
            f"{_ACTIONS[service]} on {service.upper()}"
        )


def keep_target(call: Call, name: str) -> None:
    """Store the dead-letter target of a call, if it has one."""
    targets = call.cloud.state(DeadLetters, call.account, call.region).targets
    target = _asked(call)
    if target:
        targets[name] = target
    elif target == "":
        targets.pop(name, None)


def forget_target(call: Call, name: str) -> None:
    """Remove the target of a deleted function."""
    call.cloud.state(DeadLetters, call.account, call.region).targets.pop(name, None)


def show_target(call: Call, answer: HttpAnswer) -> HttpAnswer:
    """Add a function's dead-letter target to an answer with its configuration."""
    if answer.status >= 300:
        return answer
    shown = json.loads(answer.body)
    configuration = shown.get("Configuration", shown)
    targets = call.cloud.state(DeadLetters, call.account, call.region).targets
    if target := targets.get(configuration["FunctionName"]):
        configuration["DeadLetterConfig"] = {"TargetArn": target}
    return HttpAnswer(answer.status, answer.headers, json.dumps(shown).encode())


def _asked(call: Call) -> str | None:
    """Return the target that a call names: "" removes it, None leaves it unchanged."""
    config: dict[str, Any] | None = call.params.get("DeadLetterConfig")
    return None if config is None else str(config.get("TargetArn", ""))


def _refuse(message: str) -> AwsError:
    return AwsError("InvalidParameterValueException", message)
