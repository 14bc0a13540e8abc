"""Amazon MSK: the control plane of real brokers.

Other parts of localcloud use only `directory.ClusterDirectory`.
"""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, LinkedRole, Policies, Service
from localcloud.identity.access import by_parameter, role_in

_LINKED = LinkedRole("kafka.amazonaws.com", "AWSServiceRoleForKafka")
_AT_REST = ("EncryptionInfo", "EncryptionAtRest", "DataVolumeKMSKeyId")


def list_roles(call: Call) -> Iterator[tuple[str, str]]:
    """Yield the role that a new channel delivers as."""
    for kind in ("IcebergDestinationConfiguration", "S3DestinationConfiguration"):
        path = (kind, "ServiceExecutionRoleArn")
        yield from role_in(path, "kafka.amazonaws.com", "CreateChannel")(call)


SERVICE = Service(
    "kafka",
    endpoint="kafka",
    throttle=ErrorCode("TooManyRequestsException", 429),
    resources=by_parameter(
        ("ChannelArn", "{}"),
        ("ClusterArn", "{}"),
        ("TargetClusterArn", "{}"),
        ("ResourceArn", "{}"),
        ("Arn", "{}"),
    ),
    operations=(
        "channels",
        "clusters",
        "configurations",
        "directory",
        "history",
        "metrics",
        "policies",
        "scram",
        "tags",
        "updates",
        "versions",
        "vpc_connections",
    ),
    passed_roles=list_roles,
    linked_roles=dict.fromkeys(
        ("CreateCluster", "CreateClusterV2", "CreateVpcConnection"), _LINKED
    ),
    # Service Authorization Reference, "Amazon MSK": dependent actions.
    keys={"CreateCluster": _AT_REST, "CreateClusterV2": ("Provisioned", *_AT_REST)},
    key_error=lambda flaw: AwsError("BadRequestException", flaw.says, status=400),
    policies=Policies(
        "BadRequestException",
        "The cluster policy is not valid. The IAM Principal was not found.",
        {"PutClusterPolicy": ("Policy",)},
    ),
    changes_network=True,
    status=("clusters",),
    ignored={
        "CreateCluster": "Rebalancing StorageMode",
        "UpdateConnectivity": "ZookeeperAccess",
        "UpdateMonitoring": "LoggingInfo",
    },
)
