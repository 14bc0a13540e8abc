"""The policy of a cluster, which allows access to other accounts."""

from __future__ import annotations

import json
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.services.kafka.access import find_own_cluster
from localcloud.services.kafka.model import Cluster, bad_request, new_version


@operation("kafka", "PutClusterPolicy")
def put_cluster_policy(call: Call) -> dict[str, Any]:
    """Set the policy; with CurrentVersion only if that is the current one."""
    cluster, policy = find_own_cluster(call), call.params["Policy"]
    _check(policy)
    with cluster.lock:
        expected = call.params.get("CurrentVersion", cluster.policy_version)
        if expected != cluster.policy_version:
            raise bad_request(
                f"The version of the policy is {cluster.policy_version or 'none'}, not {expected}"
            )
        cluster.policy, cluster.policy_version = policy, new_version()
    return {"CurrentVersion": cluster.policy_version}


@operation("kafka", "GetClusterPolicy")
def get_cluster_policy(call: Call) -> dict[str, Any]:
    """Return the policy and its version."""
    cluster = _find_with_policy(call)
    return {"Policy": cluster.policy, "CurrentVersion": cluster.policy_version}


@operation("kafka", "DeleteClusterPolicy")
def delete_cluster_policy(call: Call) -> dict[str, Any]:
    """Remove the policy, and with it the access of other accounts."""
    cluster = _find_with_policy(call)
    cluster.policy = cluster.policy_version = ""
    return {}


def _find_with_policy(call: Call) -> Cluster:
    cluster = find_own_cluster(call)
    if not cluster.policy:
        raise AwsError("NotFoundException", f"No policy exists for the cluster {cluster.arn}")
    return cluster


def _check(policy: str) -> None:
    try:
        document = json.loads(policy)
        statements = document["Statement"]
        for statement in statements if isinstance(statements, list) else [statements]:
            if not {"Effect", "Principal", "Action", "Resource"} <= statement.keys():
                raise KeyError
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise bad_request(
            "The policy is not a JSON document whose statements have Effect, Principal, Action and "
            "Resource"
        ) from error
