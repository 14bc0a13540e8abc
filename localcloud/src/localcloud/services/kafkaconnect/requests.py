"""The checks of CreateConnector and UpdateConnector."""

from __future__ import annotations

from typing import Any

from moto.ec2.models import ec2_backends
from moto.logs.models import logs_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.identity.roles import role_account
from localcloud.services.kafkaconnect.model import (
    KafkaConnect,
    bad_request,
    find,
    not_supported,
)

# MSK Developer Guide, "Understand MSK Connect". The worker here is of the second one.
_VERSIONS = ("2.7.1", "3.7.x")
_NEEDED = ("connector.class", "tasks.max")
_MAX_WORKERS = 10
_MCUS = (1, 2, 4, 8)


def check_connector(call: Call, state: KafkaConnect) -> None:
    """Raise AwsError for a request that MSK Connect does not accept."""
    params = call.params
    _check_version(params["kafkaConnectVersion"])
    _check_login(params)
    _check_capacity(params["capacity"])
    check_configuration(params["connectorConfiguration"])
    _check_network(call, params["kafkaCluster"]["apacheKafkaCluster"]["vpc"])
    _check_logs(call, params.get("logDelivery", {}).get("workerLogDelivery", {}))
    for each in params["plugins"]:
        find(state.plugins, each["customPlugin"]["customPluginArn"])
    if "workerConfiguration" in params:
        find(state.configurations, params["workerConfiguration"]["workerConfigurationArn"])
    if role_account(params["serviceExecutionRoleArn"]) != call.account:
        said = "Cross-account pass role is not allowed."
        raise AwsError("ForbiddenException", said, status=403)


def check_configuration(settings: dict[str, str]) -> None:
    """Raise AwsError for connector settings without what every connector needs."""
    if missing := [name for name in _NEEDED if name not in settings]:
        raise bad_request(f"The connector configuration lacks {' and '.join(missing)}")


def _check_version(version: str) -> None:
    if version not in _VERSIONS:
        expected = " or ".join(_VERSIONS)
        raise bad_request(f"Kafka Connect version {version} is not supported, only {expected}")
    if version == _VERSIONS[0]:
        raise not_supported(f"Kafka Connect {version}; its workers are of {_VERSIONS[1]}")


def _check_login(params: dict[str, Any]) -> None:
    login = params["kafkaClusterClientAuthentication"]["authenticationType"]
    transit = params["kafkaClusterEncryptionInTransit"]["encryptionType"]
    if (login, transit) == ("IAM", "PLAINTEXT"):
        raise bad_request("IAM authentication needs encryption in transit: TLS")


def _check_capacity(capacity: dict[str, Any]) -> None:
    fixed, scaled = capacity.get("provisionedCapacity"), capacity.get("autoScaling")
    if (fixed is None) == (scaled is None):
        raise bad_request("Specify either autoScaling or provisionedCapacity")
    sizes = fixed or scaled or {}
    if sizes.get("mcuCount", 1) not in _MCUS:
        raise bad_request(f"mcuCount is {sizes['mcuCount']}, expected one of {list(_MCUS)}")
    most = sizes.get("workerCount", sizes.get("maxWorkerCount", 1))
    if not 1 <= most <= _MAX_WORKERS:
        raise bad_request(f"A connector has 1 to {_MAX_WORKERS} workers, not {most}")


def _check_network(call: Call, vpc: dict[str, Any]) -> None:
    ec2 = ec2_backends[call.account][call.region]
    subnets = {subnet.id: subnet.vpc_id for subnet in ec2.describe_subnets()}
    groups = {group.id: group.vpc_id for group in ec2.describe_security_groups()}
    if unknown := [name for name in vpc["subnets"] if name not in subnets]:
        raise bad_request(f"The subnet {unknown[0]} does not exist")
    if len({subnets[name] for name in vpc["subnets"]}) != 1:
        raise bad_request(f"The subnets are not all in one VPC: {', '.join(vpc['subnets'])}")
    home = subnets[vpc["subnets"][0]]
    if unknown := [name for name in vpc.get("securityGroups", []) if groups.get(name) != home]:
        raise bad_request(f"The security group {unknown[0]} does not exist in {home}")


def _check_logs(call: Call, delivery: dict[str, Any]) -> None:
    for kind in ("s3", "firehose"):
        if delivery.get(kind, {}).get("enabled"):
            raise not_supported(f"delivery of logs to {kind}, only to cloudWatchLogs")
    watched = delivery.get("cloudWatchLogs", {})
    group = watched.get("logGroup")
    if watched.get("enabled") and group not in logs_backends[call.account][call.region].groups:
        raise bad_request(f"The log group {group} does not exist")
