"""Amazon MSK: the control plane of real brokers.

Other parts of localcloud use only `ClusterDirectory`.
"""

from __future__ import annotations

from localcloud.services.kafka import (
    clusters,
    configurations,
    directory,
    history,
    policies,
    scram,
    tags,
    updates,
    versions,
    vpc_connections,
)
from localcloud.services.kafka.directory import ClusterDirectory, RunningCluster, RunningNode

__all__ = [
    "ClusterDirectory",
    "RunningCluster",
    "RunningNode",
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
]
