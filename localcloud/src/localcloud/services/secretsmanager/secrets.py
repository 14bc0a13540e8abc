"""Secrets Manager is moto's; users of a secret's value are notified of changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import action
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation


class SecretWatch:
    """The callbacks for changes of secrets, called with the secret's ARN."""

    def __init__(self) -> None:
        self._watchers: list[Callable[[str], None]] = []

    def watch(self, tell: Callable[[str], None]) -> None:
        """Register a callback, which runs after each change of a secret and before its answer."""
        self._watchers.append(tell)

    def changed(self, arn: str) -> None:
        """Call all callbacks."""
        for tell in list(self._watchers):
            tell(arn)


@operation("secretsmanager", "PutSecretValue")
def put_secret_value(call: Call) -> HttpAnswer:
    """Let moto store the value, then notify."""
    return _forward_and_tell(call)


@operation("secretsmanager", "UpdateSecret")
def update_secret(call: Call) -> HttpAnswer:
    """Let moto change the secret, then notify."""
    return _forward_and_tell(call)


@operation("secretsmanager", "UpdateSecretVersionStage")
def update_secret_version_stage(call: Call) -> HttpAnswer:
    """Let moto move the label, which may be AWSCURRENT, then notify."""
    return _forward_and_tell(call)


@operation("secretsmanager", "RotateSecret")
def rotate_secret(call: Call) -> dict[str, Any]:
    """Refuse: without a rotation function as AWS does, with one because moto needs Docker."""
    if "RotationLambdaARN" in call.params:
        raise AwsError(
            "NotImplemented",
            "localcloud does not run rotation functions; set the new value with PutSecretValue",
            status=501,
        )
    raise AwsError(
        "InvalidRequestException",
        "No Lambda rotation function ARN is associated with this secret.",
    )


class NextPasswords:
    """The answer of GetRandomPassword until it is set again; None is a random one."""

    def __init__(self) -> None:
        self.password: str | None = None


@operation("secretsmanager", "GetRandomPassword")
def get_random_password(call: Call) -> dict[str, Any] | HttpAnswer:
    """Return the password that was set, or let moto make one."""
    password = call.cloud.state(NextPasswords).password
    return call.forward() if password is None else {"RandomPassword": password}


@action("set-random-password")
def set_random_password(cloud: Cloud, *, password: str | None) -> dict[str, Any]:
    """Set what GetRandomPassword answers from now on; null makes it random again."""
    cloud.state(NextPasswords).password = password
    return {"random": password is None}


def _forward_and_tell(call: Call) -> HttpAnswer:
    answer = call.forward()
    if answer.status == 200:
        call.cloud.state(SecretWatch).changed(json.loads(answer.body)["ARN"])
    return answer
