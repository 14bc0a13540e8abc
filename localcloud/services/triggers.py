"""Triggers of functions that nothing here runs are refused by name, not accepted and forgotten."""

from __future__ import annotations

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation


@operation("s3", "PutBucketNotificationConfiguration")
def put_bucket_notification_configuration(call: Call) -> HttpAnswer:
    """Let moto store the notifications of a bucket, unless one is for a function."""
    given = call.params.get("NotificationConfiguration") or {}
    if given.get("LambdaFunctionConfigurations"):
        raise _refuse("InvalidArgument", "notifications of a bucket")
    return call.forward()


@operation("sns", "Subscribe")
def subscribe(call: Call) -> HttpAnswer:
    """Let moto store a subscription, unless it is a function's."""
    if call.params.get("Protocol") == "lambda":
        raise _refuse("InvalidParameter", "messages of a topic")
    return call.forward()


@operation("logs", "PutSubscriptionFilter")
def put_subscription_filter(call: Call) -> HttpAnswer:
    """Let moto store a filter, unless it is for a function."""
    if ":lambda:" in call.params["destinationArn"]:
        raise _refuse("InvalidParameterException", "lines of a log group")
    return call.forward()


def _refuse(code: str, what: str) -> AwsError:
    return AwsError(code, f"localcloud starts no function by {what}; send them to an SQS queue")
