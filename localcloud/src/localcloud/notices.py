"""Messages that an AWS service publishes to a topic, if the policies of topic and key allow it."""

from __future__ import annotations

from typing import Any

from moto.sns.models import sns_backends

from localcloud.door.errors import AwsError
from localcloud.errors import LocalcloudError
from localcloud.identity.conditions import Context
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
        NotPublishedError: the topic does not exist, or its policy or its key's keeps the service
            out.
    """
    _, _, _, region, account, _ = topic_arn.split(":")
    topic = sns_backends[account][region].topics.get(topic_arn)
    if topic is None:
        raise NotPublishedError(f"the topic {topic_arn} does not exist")
    secure = {**context, "aws:SecureTransport": "true"}
    if not policy_lets(topic_arn, service, "sns:Publish", secure):
        raise NotPublishedError(f"the policy of {topic_arn} does not let {service} publish")
    for action, key, _ in key_use_of_topic(topic_arn, "sns:Publish"):
        if not policy_lets(key, service, action, {}):
            raise NotPublishedError(
                f"the policy of {topic_arn}'s key does not allow {service} {action}"
            )
    return topic


def policy_lets(resource: str, service: str, action: str, context: Context) -> bool:
    """Return whether a resource's policy lets a service do something with it."""
    principal = Principal(resource.split(":")[4], "", service=service)
    request, statements = Request(action, resource, context), policy_of(resource) or []
    return judge_resource(statements, request, principal) is Verdict.ALLOWED


def refuse_trigger(code: str, what: str) -> AwsError:
    """Return the error for a function as the destination of what nothing here sends to one."""
    return AwsError(code, f"localcloud starts no function by {what}; send them to an SQS queue")
