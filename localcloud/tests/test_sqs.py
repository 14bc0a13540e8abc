"""SQS refuses messages that are too large or hold characters that are none of XML's."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

_MOST = 262_144
_ATTRIBUTE = {"name": {"DataType": "String", "StringValue": "ä" * 8}}  # 4 + 6 + 16 bytes


@pytest.fixture
def queue(client):
    sqs = client("sqs")
    sizes = {"MaximumMessageSize": str(_MOST)}
    url = sqs.create_queue(QueueName="limits", Attributes=sizes)["QueueUrl"]
    yield sqs, url
    sqs.delete_queue(QueueUrl=url)


@pytest.mark.parametrize(
    ("body", "attributes"),
    [("x" * (_MOST - 26), _ATTRIBUTE), ("ä" * (_MOST // 2), {})],
    ids=["attributes", "bytes"],
)
def test_a_message_of_256_kib_is_taken_and_no_larger_one(queue, body, attributes):
    sqs, url = queue
    given = {"QueueUrl": url, "MessageAttributes": attributes}
    entry = {"Id": "1", "MessageAttributes": attributes}

    sqs.send_message(MessageBody=body, **given)
    large = {"MessageBody": f"{body}x"}
    for call in (
        lambda: sqs.send_message(**large, **given),
        lambda: sqs.send_message_batch(QueueUrl=url, Entries=[large | entry]),
    ):
        with pytest.raises(ClientError, match=rf"must be shorter than {_MOST} bytes"):
            call()


@pytest.mark.parametrize("character", ["\0", "\x1f", "\ufffe", "\uffff"], ids=ascii)
def test_a_character_that_xml_does_not_have_is_refused(queue, character):
    sqs, url = queue
    sqs.send_message(QueueUrl=url, MessageBody="\t\r\n\ud7ff\ue000\ufffd😀")
    for body, attribute in ((character, "x"), ("x", character)):
        attributes = {"name": {"DataType": "String", "StringValue": attribute}}
        with pytest.raises(ClientError, match=r"\(InvalidMessageContents\)"):
            sqs.send_message(QueueUrl=url, MessageBody=body, MessageAttributes=attributes)
