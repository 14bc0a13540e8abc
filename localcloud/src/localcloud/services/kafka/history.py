"""The operations of a cluster, in both forms of the API."""

from __future__ import annotations

from typing import Any

from localcloud.door.operations import Call, operation
from localcloud.services.kafka.access import find_cluster
from localcloud.services.kafka.model import (
    PAGES,
    Cluster,
    ClusterOperation,
    not_found,
    own_state,
)


@operation("kafka", "DescribeClusterOperation")
def describe_cluster_operation(call: Call) -> dict[str, Any]:
    """Describe one operation."""
    cluster, found = _find_operation(call)
    return {"ClusterOperationInfo": _show_v1(cluster, found)}


@operation("kafka", "DescribeClusterOperationV2")
def describe_cluster_operation_v2(call: Call) -> dict[str, Any]:
    """Describe one operation, with its details under Provisioned."""
    cluster, found = _find_operation(call)
    details = {"SourceClusterInfo": found.source, "TargetClusterInfo": found.target}
    return {
        "ClusterOperationInfo": {
            **_show_v2(cluster, found),
            **_show_error(found),
            "Provisioned": details,
        }
    }


@operation("kafka", "ListClusterOperations")
def list_cluster_operations(call: Call) -> dict[str, Any]:
    """List a cluster's operations, the newest first."""
    cluster = find_cluster(call)
    page, more = PAGES.cut(call, cluster.operations[::-1])
    return {"ClusterOperationInfoList": [_show_v1(cluster, each) for each in page], **more}


@operation("kafka", "ListClusterOperationsV2")
def list_cluster_operations_v2(call: Call) -> dict[str, Any]:
    """List a cluster's operations in short form, the newest first."""
    cluster = find_cluster(call)
    page, more = PAGES.cut(call, cluster.operations[::-1])
    return {"ClusterOperationInfoList": [_show_v2(cluster, each) for each in page], **more}


def _find_operation(call: Call) -> tuple[Cluster, ClusterOperation]:
    arn = call.params["ClusterOperationArn"]
    for cluster in own_state(call).clusters.values():
        for found in cluster.operations:
            if found.arn == arn:
                return cluster, found
    raise not_found(arn)


def _show_v1(cluster: Cluster, shown: ClusterOperation) -> dict[str, Any]:
    return {
        "ClusterArn": cluster.arn,
        "OperationArn": shown.arn,
        "OperationType": shown.kind,
        "OperationState": shown.state,
        "CreationTime": shown.started_at,
        "SourceClusterInfo": shown.source,
        "TargetClusterInfo": shown.target,
        **_show_end(shown),
        **_show_error(shown),
    }


def _show_v2(cluster: Cluster, shown: ClusterOperation) -> dict[str, Any]:
    return {
        "ClusterArn": cluster.arn,
        "ClusterType": "PROVISIONED",
        "OperationArn": shown.arn,
        "OperationType": shown.kind,
        "OperationState": shown.state,
        "StartTime": shown.started_at,
        **_show_end(shown),
    }


def _show_end(shown: ClusterOperation) -> dict[str, Any]:
    return {"EndTime": shown.ended_at} if shown.ended_at else {}


def _show_error(shown: ClusterOperation) -> dict[str, Any]:
    if not shown.error:
        return {}
    return {"ErrorInfo": {"ErrorCode": "OperationFailed", "ErrorString": shown.error}}
