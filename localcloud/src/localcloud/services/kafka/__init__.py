"""Amazon MSK: the control plane of real brokers.

Other parts of localcloud use only `directory.ClusterDirectory`.
"""

from __future__ import annotations

from localcloud.door.service import ErrorCode, LinkedRole, Service
from localcloud.identity.access import by_parameter

_LINKED = LinkedRole("kafka.amazonaws.com", "AWSServiceRoleForKafka")
_AT_REST = ("EncryptionInfo", "EncryptionAtRest", "DataVolumeKMSKeyId")

SERVICE = Service(
    "kafka",
    endpoint="kafka",
    throttle=ErrorCode("TooManyRequestsException", 429),
    resources=by_parameter(
        ("ClusterArn", "{}"), ("TargetClusterArn", "{}"), ("ResourceArn", "{}"), ("Arn", "{}")
    ),
    operations=(
        "clusters",
        "configurations",
        "directory",
        "history",
        "policies",
        "scram",
        "tags",
        "updates",
        "versions",
        "vpc_connections",
    ),
    linked_roles={"CreateCluster": _LINKED, "CreateClusterV2": _LINKED},
    # Service Authorization Reference, "Amazon MSK": dependent actions.
    keys={"CreateCluster": _AT_REST, "CreateClusterV2": ("Provisioned", *_AT_REST)},
    changes_network=True,
    status=("clusters",),
)
