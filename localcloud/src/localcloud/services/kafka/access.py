"""The owner of a cluster: the caller's account, or another whose policy allows the call."""

from __future__ import annotations

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.errors import UndecidablePolicyError
from localcloud.identity.policies import (
    Principal,
    Request,
    Verdict,
    judge_resource,
    read_statements,
)
from localcloud.services.kafka.model import Cluster, bad_request, not_found, state_of

# MSK API Reference: the operations that take the ARN of a serverless cluster.
_OF_SERVERLESS = frozenset(
    {
        "DeleteCluster",
        "DeleteClusterPolicy",
        "DescribeClusterOperationV2",
        "DescribeClusterV2",
        "GetBootstrapBrokers",
        "GetClusterPolicy",
        "ListClusterOperationsV2",
        "PutClusterPolicy",
    }
)


def find_cluster(call: Call, *, arn: str = "", action: str = "") -> Cluster:
    """Return the cluster that a call names, if the caller may perform the action.

    Raises:
        AwsError: it does not exist, or its policy does not allow the caller's account.
    """
    arn = arn or call.params["ClusterArn"]
    cluster = state_of(call.cloud, arn, "cluster").clusters.get(arn)
    if cluster is None:
        raise not_found(arn)
    if cluster.serverless and call.operation not in _OF_SERVERLESS:
        raise bad_request("This operation cannot be performed on serverless clusters.")
    action = action or f"kafka:{call.operation}"
    if cluster.account != call.account and not _lets_in(cluster, call, action):
        raise AwsError(
            "ForbiddenException",
            f"The policy of {arn} does not allow {action} for account {call.account}",
        )
    return cluster


def find_own_cluster(call: Call) -> Cluster:
    """Return the caller's own cluster that a call names: no policy can grant this."""
    cluster = find_cluster(call)
    if cluster.account != call.account:
        raise AwsError(
            "ForbiddenException",
            f"kafka:{call.operation} is for the owner of the cluster, account {cluster.account}",
        )
    return cluster


def _lets_in(cluster: Cluster, call: Call, action: str) -> bool:
    principal = Principal(
        account=call.account,
        arn=call.caller.role_arn or f"arn:aws:iam::{call.account}:root",
    )
    request = Request(action, cluster.arn)
    try:
        verdict = judge_resource(read_statements(cluster.policy), request, principal)
    except UndecidablePolicyError as error:
        raise AwsError("ForbiddenException", f"{error}: {action} is refused") from error
    return verdict not in {Verdict.SILENT, Verdict.DENIED}
