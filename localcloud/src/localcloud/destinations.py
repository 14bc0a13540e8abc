"""The destinations of failure records and asynchronous results: SQS, SNS, S3, a function."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

_SERVICES = ("sqs", "sns", "s3", "lambda")


def service_of(destination: str) -> str | None:
    """Return the service of a destination's ARN, None if it cannot be a destination."""
    parts = destination.split(":")
    return parts[2] if len(parts) > 5 and parts[2] in _SERVICES else None


def send_record(
    open_client: Callable[[str], Any], destination: str, path: str, record: Mapping[str, Any]
) -> None:
    """Send a record; `path` is the part of an object's key that identifies the sender."""
    text = json.dumps(record)
    service = service_of(destination)
    client = open_client(str(service))
    if service == "sqs":
        client.send_message(QueueUrl=queue_url(destination), MessageBody=text)
    elif service == "sns":
        client.publish(TopicArn=destination, Message=text)
    elif service == "s3":
        bucket = destination.split(":")[5]
        client.put_object(Bucket=bucket, Key=_object_key(path), Body=text.encode())
    else:
        client.invoke(FunctionName=destination, InvocationType="Event", Payload=text)


def send_dead_letter(
    open_client: Callable[[str], Any], target: str, event: bytes, attributes: Mapping[str, str]
) -> None:
    """Send an event unchanged to a queue or topic, with attributes that describe the failure."""
    service = str(service_of(target))
    client, text = open_client(service), event.decode()
    given = {
        name: {"DataType": "Number" if value.isdecimal() else "String", "StringValue": value}
        for name, value in attributes.items()
        if value
    }
    if service == "sqs":
        client.send_message(QueueUrl=queue_url(target), MessageBody=text, MessageAttributes=given)
    else:
        client.publish(TopicArn=target, Message=text, MessageAttributes=given)


def queue_url(arn: str) -> str:
    """Return the URL of a queue, without a look-up: the role needs no permission but to send."""
    region, account, name = arn.split(":")[3:6]
    return f"https://sqs.{region}.amazonaws.com/{account}/{name}"


def _object_key(path: str) -> str:
    now = datetime.now(UTC)
    return f"aws/lambda/{path}/{now:%Y/%m/%d}/{now:%Y-%m-%dT%H.%M.%S}-{uuid.uuid4()}"
