"""The checks and defaults of CreateCluster's parameters."""

from __future__ import annotations

import re
from typing import Any

from moto.logs.models import logs_backends

from localcloud.door.operations import Call
from localcloud.services.kafka.authorities import read_authorities
from localcloud.services.kafka.configurations import find_revision
from localcloud.services.kafka.listeners import (
    any_login,
    enabled_listeners,
    is_enabled,
    vpc_logins,
)
from localcloud.services.kafka.model import Cluster, bad_request
from localcloud.services.kafka.versions import VERSIONS, has_controllers

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9-]{0,63}")
_INSTANCE = re.compile(r"(express\.m7g|kafka\.m5|kafka\.m7g)\.\d*x?large")
_BURSTABLE = "kafka.t3.small"  # with ZooKeeper only: assumption `burstable-brokers`
_OPEN_TO_ALL = "allow.everyone.if.no.acl.found"  # Kafka ACLs alone let a user of SCRAM in
_ZONES = (2, 3)
_MAX_VOLUME_GB = 16384
_MAX_BROKERS = 60


def check_name(name: str) -> None:
    """Raise AwsError for an invalid name."""
    if not _NAME.fullmatch(name):
        raise bad_request(f"The cluster name {name!r} is not up to 64 letters, digits and hyphens")


def fill_settings(call: Call, given: dict[str, Any]) -> dict[str, Any]:
    """Check the parameters of a provisioned cluster and return them with MSK's defaults."""
    group = given["BrokerNodeGroupInfo"]
    check_version(given["KafkaVersion"])
    check_instance_type(group["InstanceType"], given["KafkaVersion"])
    if len(group["ClientSubnets"]) not in _ZONES:
        raise bad_request("Specify either two or three client subnets")
    check_broker_count(given["NumberOfBrokerNodes"], len(group["ClientSubnets"]))
    settings = {
        "EnhancedMonitoring": "DEFAULT",
        "StorageMode": "LOCAL",
        **{name: value for name, value in given.items() if name not in _NOT_SHOWN},
        "BrokerNodeGroupInfo": _fill_group(group),
        "EncryptionInfo": _fill_encryption(call, given.get("EncryptionInfo", {})),
        "CurrentBrokerSoftwareInfo": software_info(
            call, given["KafkaVersion"], given.get("ConfigurationInfo")
        ),
    }
    check_security(settings)
    check_log_group(call, settings)
    return settings


def check_version(version: str) -> None:
    """Raise AwsError for a Kafka version that MSK does not offer."""
    if version not in VERSIONS:
        raise bad_request(
            f"Unsupported KafkaVersion [{version}]. Valid values: [{', '.join(VERSIONS)}]"
        )


def check_instance_type(instance_type: str, version: str) -> None:
    """Raise AwsError for an instance type that MSK does not offer with this Kafka version."""
    burstable = instance_type == _BURSTABLE and not has_controllers(version)
    if not (burstable or _INSTANCE.fullmatch(instance_type)):
        raise bad_request(
            "Unsupported InstanceType specified. Valid values: "
            "[express.m7g.*, kafka.m5.*, kafka.m7g.*]"
        )


def check_broker_count(count: int, zones: int) -> None:
    """Raise AwsError for a number of brokers that cannot be spread evenly."""
    if count % zones:
        raise bad_request(
            "The number of broker nodes must be a multiple of Availability Zones in the Client "
            f"Subnets parameter: {count} brokers, {zones} zones"
        )
    if not 0 < count <= _MAX_BROKERS:
        raise bad_request(f"A cluster has 1 to {_MAX_BROKERS} brokers, not {count}")


def check_volume(gigabytes: int) -> None:
    """Raise AwsError for a volume size that MSK does not offer."""
    if not 1 <= gigabytes <= _MAX_VOLUME_GB:
        raise bad_request(f"A volume has 1 to {_MAX_VOLUME_GB} GiB, not {gigabytes}")


def check_security(settings: dict[str, Any]) -> None:
    """Raise AwsError for ways to log in that exclude each other or that localcloud lacks."""
    login = settings.get("ClientAuthentication", {})
    transit = settings["EncryptionInfo"]["EncryptionInTransit"]["ClientBroker"]
    if is_enabled(login, "Tls") and not read_authorities(settings):
        raise bad_request("TLS client authentication needs the ARN of a private CA")
    if any_login(login) and transit == "PLAINTEXT":
        raise bad_request("A login needs encryption in transit between clients and brokers: TLS")
    if not enabled_listeners(settings):
        raise bad_request("The cluster would have no way to connect to it")


def check_log_group(call: Call, settings: dict[str, Any]) -> None:
    """Raise AwsError for broker logs that go to a log group that does not exist."""
    watched = settings.get("LoggingInfo", {}).get("BrokerLogs", {}).get("CloudWatchLogs", {})
    group = watched.get("LogGroup")
    if watched.get("Enabled") and group not in logs_backends[call.account][call.region].groups:
        raise bad_request(f"The log group {group} doesn't exist: assumption `msk-key-and-log`")


def check_connectivity(cluster: Cluster, wanted: dict[str, Any]) -> None:
    """Raise AwsError for connectivity that the cluster's ways to log in do not allow."""
    settings = cluster.settings
    if wanted.get("PublicAccess", {}).get("Type", "DISABLED") != "DISABLED":
        raise bad_request("localcloud has no public access to brokers")
    shown = {**settings, "BrokerNodeGroupInfo": {"ConnectivityInfo": wanted}}
    if "TLS" in vpc_logins(shown):
        raise bad_request("localcloud has no VPC connectivity with TLS; enable SCRAM or IAM")
    if missing := vpc_logins(shown) - enabled_listeners(settings):
        raise bad_request(
            f"VPC connectivity with {', '.join(sorted(missing))} needs the same way to log in "
            "enabled for the cluster"
        )
    if "SCRAM" in vpc_logins(shown) and cluster.properties.get(_OPEN_TO_ALL, "true") != "false":
        raise bad_request(f"VPC connectivity with SCRAM needs {_OPEN_TO_ALL}=false")


def software_info(call: Call, version: str, configuration: dict[str, Any] | None) -> dict[str, Any]:
    """Return the broker software, after checking that the configuration exists and fits."""
    if configuration is None:
        return {"KafkaVersion": version}
    kafka_versions, _ = find_revision(call, configuration)
    if kafka_versions and version not in kafka_versions:
        raise bad_request(
            f"The configuration {configuration['Arn']} is for Kafka {', '.join(kafka_versions)}, "
            f"not {version}"
        )
    return {
        "KafkaVersion": version,
        "ConfigurationArn": configuration["Arn"],
        "ConfigurationRevision": configuration["Revision"],
    }


_NOT_SHOWN = ("ClusterName", "Tags", "KafkaVersion", "ConfigurationInfo")


def _fill_group(group: dict[str, Any]) -> dict[str, Any]:
    storage = {"VolumeSize": 100, **group.get("StorageInfo", {}).get("EbsStorageInfo", {})}
    check_volume(storage["VolumeSize"])
    connectivity = group.get("ConnectivityInfo", {})
    if connectivity.get("PublicAccess", {}).get("Type", "DISABLED") != "DISABLED":
        raise bad_request("You can't enable public access while you create a cluster")
    if vpc_logins({"BrokerNodeGroupInfo": {"ConnectivityInfo": connectivity}}):
        raise bad_request(
            "When creating a cluster, all vpcConnectivity auth schemes must be disabled "
            "('enabled' : false). You can enable auth schemes after the cluster is created."
        )
    return {
        "BrokerAZDistribution": "DEFAULT",
        **group,
        "StorageInfo": {"EbsStorageInfo": storage},
        "ConnectivityInfo": {**connectivity, "PublicAccess": {"Type": "DISABLED"}},
    }


def _fill_encryption(call: Call, given: dict[str, Any]) -> dict[str, Any]:
    own_key = f"arn:aws:kms:{call.region}:{call.account}:key/aws-managed-msk"
    return {
        "EncryptionAtRest": given.get("EncryptionAtRest", {"DataVolumeKMSKeyId": own_key}),
        "EncryptionInTransit": {
            "ClientBroker": "TLS",
            "InCluster": True,
            **given.get("EncryptionInTransit", {}),
        },
    }
