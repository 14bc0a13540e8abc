"""The limits of messages: moto counts the characters of the body alone, and takes any.

Source: API Reference, "SendMessage".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from moto.sqs.models import sqs_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation

_OTHERS: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@operation("sqs", "SendMessage")
@operation("sqs", "SendMessageBatch")
def send_message(call: Call) -> HttpAnswer:
    """Let moto keep messages that SQS takes."""
    account, name = call.params["QueueUrl"].rstrip("/").split("/")[-2:]
    queue = sqs_backends[account][call.region].queues.get(name)
    if queue is not None:  # moto says so
        for message in call.params.get("Entries", [call.params]):
            _check(message, int(queue.attributes["MaximumMessageSize"]))
    return call.forward()


def _check(message: Mapping[str, Any], most: int) -> None:
    texts = list(_list_texts(message))
    if sum(len(each if isinstance(each, bytes) else each.encode()) for each in texts) > most:
        raise AwsError(
            "InvalidParameterValue",
            f"One or more parameters are invalid. Reason: Message must be shorter than {most} "
            "bytes.",
            status=400,
        )
    if any(isinstance(each, str) and _OTHERS.search(each) for each in texts):
        raise AwsError("InvalidMessageContents", "Invalid characters found in the message.")


def _list_texts(message: Mapping[str, Any]) -> Iterator[str | bytes]:
    """Yield what the size of a message is counted of."""
    yield message["MessageBody"]
    for name, value in message.get("MessageAttributes", {}).items():
        yield name
        yield from value.values()
