"""Messages that an AWS service publishes to a topic, if the policies of topic and key allow it."""

from __future__ import annotations

from moto.sns.models import sns_backends

from localcloud.errors import LocalcloudError
from localcloud.identity.conditions import Context
from localcloud.identity.policies import Principal, Request, Verdict, judge_resource
from localcloud.identity.resource_policies import key_arn, policy_of

_KEY_ACTIONS = ("kms:Decrypt", "kms:GenerateDataKey")


class NotPublishedError(LocalcloudError):
    """A service may not publish to a topic."""


def publish(topic_arn: str, service: str, context: Context, subject: str, message: str) -> None:
    """Publish a message for a service such as cloudwatch.amazonaws.com.

    Its request to KMS has no context that a key's policy could ask for.

    Raises:
        NotPublishedError: the topic does not exist, or its policy or its key's keeps the service
            out; on AWS nothing reports this.
    """
    _, _, _, region, account, _ = topic_arn.split(":")
    topic = sns_backends[account][region].topics.get(topic_arn)
    if topic is None:
        raise NotPublishedError(f"the topic {topic_arn} does not exist")
    secure = {**context, "aws:SecureTransport": "true"}
    if not _lets(topic_arn, service, "sns:Publish", secure):
        raise NotPublishedError(f"the policy of {topic_arn} does not let {service} publish")
    if topic.kms_master_key_id:
        key = key_arn(account, region, topic.kms_master_key_id)
        for action in _KEY_ACTIONS:
            if not _lets(key, service, action, {}):
                raise NotPublishedError(
                    f"the policy of {topic_arn}'s key does not allow {service} {action}"
                )
    topic.publish(message, subject=subject or None)


def _lets(resource: str, service: str, action: str, context: Context) -> bool:
    principal = Principal(resource.split(":")[4], "", service=service)
    request, statements = Request(action, resource, context), policy_of(resource) or []
    return judge_resource(statements, request, principal) is Verdict.ALLOWED
