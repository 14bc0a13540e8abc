"""The questions about what a region and an account take: zones, endpoints, sizes, limits."""

from __future__ import annotations

import io
import zipfile
from typing import Any, Final

from botocore.exceptions import ClientError

from tools.aws_check.findings import (
    Finding,
    combine,
    make_name,
    make_role,
)

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
_PYTHON: Final = "python3.13"


def ask_kafka_pairs(session: Any) -> Finding:
    """Ask MSK for clusters in subnets that do not exist: it refuses a bad pair by its type."""
    kafka = session.client("kafka")
    verdicts, lines = [], []
    for version, instance_type, takes in _PAIRS:
        said = _try_cluster(kafka, version, instance_type)
        taken = None if said is None else "instancetype" not in said.lower()
        verdicts.append(None if said is None else taken is takes)
        lines.append(f"{version} on {instance_type}: {'taken' if taken else 'refused'}: {said}")
    return Finding(combine(verdicts), lines)


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
    """Read the limit of functions that run at once, and try to reserve one of them."""
    functions, name = session.client("lambda"), make_name()
    limit = functions.get_account_settings()["AccountLimit"]
    total, left = limit["ConcurrentExecutions"], limit["UnreservedConcurrentExecutions"]
    free = max(0, left - _UNRESERVED)
    lines = [f"{total} run at once, {left} unreserved: {free} may be reserved"]
    with make_role(session, name, "lambda.amazonaws.com") as role:
        functions.create_function(
            FunctionName=name,
            Role=role,
            Runtime=_PYTHON,
            Handler="handler.handle",
            Code={"ZipFile": _make_zip()},
        )
        try:
            functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=1)
            taken, said = True, "taken"
        except ClientError as error:
            taken, said = False, str(error)
        finally:
            functions.delete_function(FunctionName=name)
    return Finding(taken is (free > 0), [*lines, f"a reserve of 1: {said}"])


def _try_cluster(kafka: Any, version: str, instance_type: str) -> str | None:
    """Return why MSK refuses, None if it says nothing about instance type or subnets."""
    try:
        made = kafka.create_cluster(
            ClusterName=make_name(),
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


def _make_zip() -> bytes:
    """Return a function's package; nobody invokes it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        file = zipfile.ZipInfo("handler.py")
        file.external_attr = 0o644 << 16
        archive.writestr(file, "def handle(event, context):\n    return None\n")
    return buffer.getvalue()
