"""The auto-termination policy and the tags of a cluster."""

from __future__ import annotations

from typing import Any

from localcloud.door.operations import Call
from localcloud.services.emr.model import Clusters, cluster_operation, find_cluster
from localcloud.services.emr.requests import check_idle_policy

_DEFAULT_IDLE_SECONDS = 3600


@cluster_operation("PutAutoTerminationPolicy")
def put_auto_termination_policy(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Set the time after which an idle cluster ends; it counts from now."""
    cluster = find_cluster(clusters, call.params["ClusterId"])
    policy = call.params.get("AutoTerminationPolicy", {})
    check_idle_policy(policy)
    with cluster.changed:
        cluster.idle_seconds = policy.get("IdleTimeout", _DEFAULT_IDLE_SECONDS)
        cluster.changed.notify_all()
    return {}


@cluster_operation("GetAutoTerminationPolicy")
def get_auto_termination_policy(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Return the policy, nothing without one."""
    seconds = find_cluster(clusters, call.params["ClusterId"]).idle_seconds
    return {} if seconds is None else {"AutoTerminationPolicy": {"IdleTimeout": seconds}}


@cluster_operation("RemoveAutoTerminationPolicy")
def remove_auto_termination_policy(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Let the cluster wait for steps forever."""
    cluster = find_cluster(clusters, call.params["ClusterId"])
    with cluster.changed:
        cluster.idle_seconds = None
        cluster.changed.notify_all()
    return {}


@cluster_operation("AddTags")
def add_tags(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Set tags of a cluster."""
    tags = find_cluster(clusters, call.params["ResourceId"]).tags
    tags.update({each["Key"]: each.get("Value", "") for each in call.params["Tags"]})
    return {}


@cluster_operation("RemoveTags")
def remove_tags(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Remove tags of a cluster."""
    tags = find_cluster(clusters, call.params["ResourceId"]).tags
    for key in call.params["TagKeys"]:
        tags.pop(key, None)
    return {}
