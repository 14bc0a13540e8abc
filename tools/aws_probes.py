"""The questions of `make aws-check`, each a function from a boto3 session to what AWS answered."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

# Kafka version, instance type, and whether the producer's root takes the pair.
_PAIRS: Final = (
    ("3.9.x.kraft", "kafka.m7g.large", True),
    ("3.9.x.kraft", "kafka.m5.large", True),
    ("3.9.x.kraft", "kafka.t3.small", False),
    ("4.0.x.kraft", "kafka.m7g.large", True),
)
_INVENTED_SUBNETS: Final = ["subnet-0a1b2c3d4e5f60718", "subnet-0a1b2c3d4e5f60719"]
_ENDPOINTS: Final = ("glue", "lambda", "logs", "secretsmanager", "sts")
_ENOUGH_ZONES: Final = 2
_UNRESERVED: Final = 100  # that Lambda keeps
_KEY_DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer: AWS does what Penstock expects (None: not settled), and the details."""

    expected: bool | None
    lines: list[str]


def ask_kafka_pairs(session: Any) -> Finding:
    """Ask MSK for clusters in subnets that do not exist: it refuses a bad pair by its type."""
    kafka = session.client("kafka")
    verdicts, lines = [], []
    for version, instance_type, takes in _PAIRS:
        said = _try_cluster(kafka, version, instance_type)
        taken = None if said is None else "instancetype" not in said.lower()
        verdicts.append(None if said is None else taken is takes)
        lines.append(f"{version} on {instance_type}: {'taken' if taken else 'refused'}: {said}")
    return Finding(_combine(verdicts), lines)


def ask_endpoint_zones(session: Any) -> Finding:
    """List the zones that have all endpoints, by the ids that `zone_ids` takes."""
    ec2, region = session.client("ec2"), session.region_name
    shown = ec2.describe_availability_zones()["AvailabilityZones"]
    ids = {zone["ZoneName"]: zone["ZoneId"] for zone in shown}
    names = [f"com.amazonaws.{region}.{name}" for name in _ENDPOINTS]
    services = ec2.describe_vpc_endpoint_services(ServiceNames=names)["ServiceDetails"]
    zones = {
        service["ServiceName"]: set(service["AvailabilityZones"])
        for service in services
        if "Interface" in {kind["ServiceType"] for kind in service["ServiceType"]}
    }
    lacking = sorted(set(names) - zones.keys())
    usable = sorted(ids[zone] for zone in set.intersection(set(ids), *zones.values()))
    lines = [f"zone_ids of {region}: {', '.join(usable)}", *(f"no {name}" for name in lacking)]
    return Finding(not lacking and len(usable) >= _ENOUGH_ZONES, lines)


def ask_cluster_endpoint(session: Any) -> Finding:
    """Find the service through which EMR reaches a cluster of Spark 8 in a private subnet."""
    name = f"aws.api.{session.region_name}.emr-service-cell01"
    try:
        found = session.client("ec2").describe_vpc_endpoint_services(ServiceNames=[name])
    except ClientError as error:
        return Finding(False, [str(error)])
    zones = found["ServiceDetails"][0]["AvailabilityZones"]
    return Finding(True, [f"{name} is in {', '.join(sorted(zones))}"])


def ask_concurrency(session: Any) -> Finding:
    """Read the limit of functions that run at once, and what of it is unreserved."""
    limit = session.client("lambda").get_account_settings()["AccountLimit"]
    total, left = limit["ConcurrentExecutions"], limit["UnreservedConcurrentExecutions"]
    free = max(0, left - _UNRESERVED)
    return Finding(total > 0, [f"{total} run at once, {left} unreserved: {free} may be reserved"])


def ask_bucket_notifications(session: Any) -> Finding:
    """Let a new bucket publish to a new encrypted topic, as the module lake does."""
    account = session.client("sts").get_caller_identity()["Account"]
    name = f"penstock-check-{uuid.uuid4().hex[:12]}"
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


def _try_cluster(kafka: Any, version: str, instance_type: str) -> str | None:
    """Return why MSK refuses, None if it says nothing about instance type or subnets."""
    try:
        made = kafka.create_cluster(
            ClusterName=f"penstock-check-{uuid.uuid4().hex[:12]}",
            KafkaVersion=version,
            NumberOfBrokerNodes=len(_INVENTED_SUBNETS),
            BrokerNodeGroupInfo={
                "ClientSubnets": _INVENTED_SUBNETS,
                "InstanceType": instance_type,
                "StorageInfo": {"EbsStorageInfo": {"VolumeSize": 10}},
            },
        )
    except ClientError as error:
        said = str(error.response["Error"]["Message"])
        return said if {"instancetype", "subnet"} & _words(said) else None
    kafka.delete_cluster(ClusterArn=made["ClusterArn"])
    return None


def _words(text: str) -> set[str]:
    """Return which of the two words a message has."""
    return {word for word in ("instancetype", "subnet") if word in text.lower().replace(" ", "")}


def _combine(verdicts: list[bool | None]) -> bool | None:
    if False in verdicts:
        return False
    return None if None in verdicts else True


@contextlib.contextmanager
def _key(kms: Any, account: str, bucket: str) -> Iterator[str]:
    root = {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{account}:root"}}
    publisher = _publisher(account, bucket) | {"Action": ["kms:Decrypt", "kms:GenerateDataKey"]}
    policy = _policy(root | {"Action": "kms:*", "Resource": "*"}, publisher | {"Resource": "*"})
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
            TopicArn=topic, AttributeName="Policy", AttributeValue=_policy(publisher)
        )
        yield topic
    finally:
        sns.delete_topic(TopicArn=topic)


@contextlib.contextmanager
def make_bucket(session: Any, name: str) -> Iterator[str]:
    """Create a bucket in the session's region, and delete it afterwards."""
    s3, region = session.client("s3"), session.region_name
    place = {"CreateBucketConfiguration": {"LocationConstraint": region}}
    s3.create_bucket(Bucket=name, **({} if region == "us-east-1" else place))
    try:
        yield name
    finally:
        s3.delete_bucket(Bucket=name)


def _publisher(account: str, bucket: str) -> dict[str, Any]:
    return {
        "Effect": "Allow",
        "Principal": {"Service": "s3.amazonaws.com"},
        "Condition": {
            "ArnEquals": {"aws:SourceArn": f"arn:aws:s3:::{bucket}"},
            "StringEquals": {"aws:SourceAccount": account},
        },
    }


def _policy(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
