"""The question to S3: may a bucket publish to an encrypted topic, as the module lake has it?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from botocore.exceptions import ClientError

from tools.aws_check.findings import Finding, make_bucket, make_name, make_policy, read_caller

_KEY_DAYS: Final = 7


def ask_bucket_notifications(session: Any) -> Finding:
    """Let a new bucket publish to a new encrypted topic, as the module lake does."""
    account, partition = read_caller(session)
    name = make_name()
    owner = f"arn:{partition}:iam::{account}:root"
    publisher = _make_publisher(account, f"arn:{partition}:s3:::{name}")
    with contextlib.ExitStack() as made:
        key = made.enter_context(_key(session.client("kms"), owner, publisher))
        topic = made.enter_context(_topic(session.client("sns"), name, key, publisher))
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
def _key(kms: Any, owner: str, publisher: dict[str, Any]) -> Iterator[str]:
    root = {"Effect": "Allow", "Principal": {"AWS": owner}, "Action": "kms:*", "Resource": "*"}
    use = {"Action": ["kms:Decrypt", "kms:GenerateDataKey"], "Resource": "*"}
    policy = make_policy(root, publisher | use)
    made = kms.create_key(Policy=policy, Description="Made and deleted by make aws-check")
    try:
        yield made["KeyMetadata"]["Arn"]
    finally:
        kms.schedule_key_deletion(KeyId=made["KeyMetadata"]["KeyId"], PendingWindowInDays=_KEY_DAYS)


@contextlib.contextmanager
def _topic(sns: Any, name: str, key: str, publisher: dict[str, Any]) -> Iterator[str]:
    topic = sns.create_topic(Name=name, Attributes={"KmsMasterKeyId": key})["TopicArn"]
    try:
        policy = make_policy(publisher | {"Action": "sns:Publish", "Resource": topic})
        sns.set_topic_attributes(TopicArn=topic, AttributeName="Policy", AttributeValue=policy)
        yield topic
    finally:
        sns.delete_topic(TopicArn=topic)


def _make_publisher(account: str, bucket: str) -> dict[str, Any]:
    return {
        "Effect": "Allow",
        "Principal": {"Service": "s3.amazonaws.com"},
        "Condition": {
            "ArnEquals": {"aws:SourceArn": bucket},
            "StringEquals": {"aws:SourceAccount": account},
        },
    }
