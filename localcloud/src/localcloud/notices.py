"""Messages that an AWS service publishes to a topic, if the policies of topic and key allow it."""

from __future__ import annotations

from typing import Any

from moto.sns.models import sns_backends

from localcloud.door.errors import AwsError
from localcloud.errors import LocalcloudError
from localcloud.identity.conditions import Context
from localcloud.identity.key_states import find_flaw
from localcloud.identity.policies import Principal, Request, Verdict, judge_resource
from localcloud.identity.resource_policies import key_use_of_topic, policy_of


class NotPublishedError(LocalcloudError):
    """A service may not publish to a topic."""


def publish(topic_arn: str, service: str, context: Context, subject: str, message: str) -> None:
    """Publish a message for a service such as cloudwatch.amazonaws.com.

    Raises:
        NotPublishedError: see check_publisher; on AWS nothing reports this.
    """
    check_publisher(topic_arn, service, context).publish(message, subject=subject or None)


def check_publisher(topic_arn: str, service: str, context: Context) -> Any:
    """Return moto's topic if a service may publish to it.

    Its request to KMS has no context that a key's policy could ask for.

    Raises:
        NotPublishedError: the topic does not exist, its policy or its key's keeps the service out,
            or the key does not work.
    """
    _, _, _, region, account, _ = topic_arn.split(":")
    topic = sns_backends[account][region].topics.get(topic_arn)
    if topic is None:
        raise NotPublishedError(f"the topic {topic_arn} does not exist")
    secure = {**context, "aws:SecureTransport": "true"}
    uses: list[tuple[str, str, Context]] = [
        (action, key, {}) for action, key, _ in key_use_of_topic(topic_arn, "sns:Publish")
    ]
    for action, resource, given in [("sns:Publish", topic_arn, secure), *uses]:
        if obstacle := find_obstacle(resource, service, action, given):
            raise NotPublishedError(obstacle)
    return topic


def find_obstacle(resource: str, service: str, action: str, context: Context) -> str | None:
    """Return what keeps a service from an action on a resource: its policy, or a key's state."""
    principal = Principal(resource.split(":")[4], "", service=service)
    request, statements = Request(action, resource, context), policy_of(resource) or []
    if judge_resource(statements, request, principal) is not Verdict.ALLOWED:
        return f"the policy of {resource} does not allow {service} {action}"
    flaw = find_flaw(action, resource)
    return flaw.says if flaw else None


def refuse_trigger(code: str, what: str) -> AwsError:
    """Return the error for a function as the destination of what nothing here sends to one."""
    return AwsError(code, f"localcloud starts no function by {what}; send them to an SQS queue")
