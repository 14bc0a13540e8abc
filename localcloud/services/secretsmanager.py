"""Secrets Manager is moto's; whoever uses a secret's value is told when it may have changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import action
from localcloud.door.operations import AwsError, Call, HttpAnswer, operation


class SecretWatch:
    """Who wants to know that a secret may have another value: called with the secret's ARN."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._watchers: list[Callable[[str], None]] = []

    def watch(self, tell: Callable[[str], None]) -> None:
        """Have `tell` called after each change of any secret, before the change is answered."""
        self._watchers.append(tell)

    def changed(self, arn: str) -> None:
        """Tell everybody."""
        for tell in list(self._watchers):
            tell(arn)


@operation("secretsmanager", "PutSecretValue")
def put_secret_value(call: Call) -> HttpAnswer:
    """Let moto keep the value, then tell."""
    return _forward_and_tell(call)


@operation("secretsmanager", "UpdateSecret")
def update_secret(call: Call) -> HttpAnswer:
    """Let moto change the secret, then tell."""
    return _forward_and_tell(call)


@operation("secretsmanager", "UpdateSecretVersionStage")
def update_secret_version_stage(call: Call) -> HttpAnswer:
    """Let moto move the label, which AWSCURRENT may be, then tell."""
    return _forward_and_tell(call)


@operation("secretsmanager", "RotateSecret")
def rotate_secret(call: Call) -> dict[str, Any]:
    """Refuse: as AWS where no function rotates, and where one does, since moto needs Docker."""
    if "RotationLambdaARN" in call.params:
        raise AwsError(
            "NotImplemented",
            "localcloud does not run rotation functions; put the new value by PutSecretValue",
            status=501,
        )
    raise AwsError(
        "InvalidRequestException",
        "No Lambda rotation function ARN is associated with this secret.",
    )


class NextPasswords:
    """What GetRandomPassword is to answer: the same until it is set anew, None for a random one."""

    def __init__(self) -> None:
        """Begin with random ones."""
        self.password: str | None = None


@operation("secretsmanager", "GetRandomPassword")
def get_random_password(call: Call) -> dict[str, Any] | HttpAnswer:
    """Answer the password that was set, or let moto make one."""
    password = call.cloud.state(NextPasswords).password
    return call.forward() if password is None else {"RandomPassword": password}


@action("set-random-password")
def set_random_password(cloud: Cloud, *, password: str | None) -> dict[str, Any]:
    """Set what GetRandomPassword answers from now on; null lets it be random again."""
    cloud.state(NextPasswords).password = password
    return {"random": password is None}


def _forward_and_tell(call: Call) -> HttpAnswer:
    answer = call.forward()
    if answer.status == 200:
        call.cloud.state(SecretWatch).changed(json.loads(answer.body)["ARN"])
    return answer
