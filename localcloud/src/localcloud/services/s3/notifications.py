"""Notifications of buckets: none to functions, which localcloud does not run, none that fail."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.identity.resource_policies import KeyUse, key_use_of_queue, key_use_of_topic
from localcloud.notices import find_obstacle, refuse_trigger

_S3 = "s3.amazonaws.com"


@operation("s3", "PutBucketNotificationConfiguration")
def put_bucket_notification_configuration(call: Call) -> HttpAnswer:
    """Let moto store the notifications of a bucket, unless one is for a function."""
    given = call.params.get("NotificationConfiguration") or {}
    if given.get("LambdaFunctionConfigurations"):
        raise refuse_trigger("InvalidArgument", "notifications of a bucket")
    _check_destinations(call, given)
    return call.forward()


def _check_destinations(call: Call, given: dict[str, Any]) -> None:
    """Refuse topics and queues whose policy or key does not let S3 send its test message.

    Its request to KMS names the bucket and its account: assumption `bucket-notifications`.
    """
    context = {
        "aws:SourceAccount": call.account,
        "aws:SourceArn": f"arn:aws:s3:::{call.params['Bucket']}",
    }
    for arn, action, uses in _destinations(given):
        needed = chain([(action, arn)], ((use, key) for use, key, _ in uses))
        for needs, resource in needed:
            if obstacle := find_obstacle(resource, _S3, needs, context):
                said = f"Unable to validate the following destination configurations: {obstacle}"
                raise AwsError("InvalidArgument", said)


def _destinations(given: dict[str, Any]) -> Iterator[tuple[str, str, Iterator[KeyUse]]]:
    for each in given.get("TopicConfigurations") or []:
        topic = each["TopicArn"]
        yield topic, "sns:Publish", key_use_of_topic(topic, "sns:Publish")
    for each in given.get("QueueConfigurations") or []:
        queue = each["QueueArn"]
        yield queue, "sqs:SendMessage", key_use_of_queue(queue, "sqs:SendMessage")
