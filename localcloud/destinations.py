"""Where records of failures (and of asynchronous successes) go: SQS, SNS, S3, another function."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

_SERVICES = ("sqs", "sns", "s3", "lambda")


def service_of(destination: str) -> str | None:
    """Name the service of a destination's ARN, None where it cannot be one."""
    parts = destination.split(":")
    return parts[2] if len(parts) > 5 and parts[2] in _SERVICES else None


def send_record(
    open_client: Callable[[str], Any], destination: str, path: str, record: Mapping[str, Any]
) -> None:
    """Send a record; `path` is the part of an object's key that says whose it is."""
    text = json.dumps(record)
    service = service_of(destination)
    client = open_client(str(service))
    if service == "sqs":
        region, account, name = destination.split(":")[3:6]
        # Not asked for: the role needs no right but to send.
        url = f"https://sqs.{region}.amazonaws.com/{account}/{name}"
        client.send_message(QueueUrl=url, MessageBody=text)
    elif service == "sns":
        client.publish(TopicArn=destination, Message=text)
    elif service == "s3":
        bucket = destination.split(":")[5]
        client.put_object(Bucket=bucket, Key=_object_key(path), Body=text.encode())
    else:
        client.invoke(FunctionName=destination, InvocationType="Event", Payload=text)


def _object_key(path: str) -> str:
    now = datetime.now(UTC)
    return f"aws/lambda/{path}/{now:%Y/%m/%d}/{now:%Y-%m-%dT%H.%M.%S}-{uuid.uuid4()}"
