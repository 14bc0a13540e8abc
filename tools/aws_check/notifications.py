"""The question to S3: may a bucket publish to an encrypted topic, as the module lake has it?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from botocore.exceptions import ClientError

from tools.aws_check.findings import Finding, make_bucket, make_name, make_policy

_KEY_DAYS: Final = 7


def ask_bucket_notifications(session: Any) -> Finding:
    """Let a new bucket publish to a new encrypted topic, as the module lake does."""
    account = session.client("sts").get_caller_identity()["Account"]
    name = make_name()
    with contextlib.ExitStack() as made:
        key = made.enter_context(_key(session.client("kms"), account, name))
        topic = made.enter_context(_topic(session.client("sns"), account, name, key))
        bucket = made.enter_context(make_bucket(session, name))
        events = {"TopicArn": topic, "Events": ["s3:ObjectCreated:*"]}
        try:
            session.client("s3").put_bucket_notification_configuration(
                Bucket=bucket, NotificationConfiguration={"TopicConfigurations": [events]}
            )
        except ClientError as error:
            return Finding(False, [str(error)])
    return Finding(True, ["S3 published its test message to the topic"])


@contextlib.contextmanager
def _key(kms: Any, account: str, bucket: str) -> Iterator[str]:
    root = {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{account}:root"}}
    publisher = _publisher(account, bucket) | {"Action": ["kms:Decrypt", "kms:GenerateDataKey"]}
    policy = make_policy(root | {"Action": "kms:*", "Resource": "*"}, publisher | {"Resource": "*"})
    made = kms.create_key(Policy=policy, Description="Made and deleted by make aws-check")
    try:
        yield made["KeyMetadata"]["Arn"]
    finally:
        kms.schedule_key_deletion(KeyId=made["KeyMetadata"]["KeyId"], PendingWindowInDays=_KEY_DAYS)


@contextlib.contextmanager
def _topic(sns: Any, account: str, bucket: str, key: str) -> Iterator[str]:
    topic = sns.create_topic(Name=bucket, Attributes={"KmsMasterKeyId": key})["TopicArn"]
    try:
        publisher = _publisher(account, bucket) | {"Action": "sns:Publish", "Resource": topic}
        sns.set_topic_attributes(
            TopicArn=topic, AttributeName="Policy", AttributeValue=make_policy(publisher)
        )
        yield topic
    finally:
        sns.delete_topic(TopicArn=topic)


def _publisher(account: str, bucket: str) -> dict[str, Any]:
    return {
        "Effect": "Allow",
        "Principal": {"Service": "s3.amazonaws.com"},
        "Condition": {
            "ArnEquals": {"aws:SourceArn": f"arn:aws:s3:::{bucket}"},
            "StringEquals": {"aws:SourceAccount": account},
        },
    }
