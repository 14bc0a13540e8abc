"""The operations on clusters: create, describe, list, delete."""

from __future__ import annotations

from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.services.kafka.access import find_cluster, find_own_cluster
from localcloud.services.kafka.configurations import find_revision, read_properties
from localcloud.services.kafka.interfaces import check_places
from localcloud.services.kafka.lifecycle import begin_cluster, begin_deletion
from localcloud.services.kafka.listeners import bootstrap_strings
from localcloud.services.kafka.model import (
    PAGES,
    BrokerNode,
    Cluster,
    bad_request,
    new_identity,
    now,
    own_state,
)
from localcloud.services.kafka.requests import check_name, fill_settings
from localcloud.services.kafka.serverless import make_serverless, show_serverless
from localcloud.services.kafka.versions import has_controllers

_CONTROLLERS = 3  # whatever the number of brokers: assumption `kraft-controllers`


@operation("kafka", "CreateCluster")
def create_cluster(call: Call) -> dict[str, Any]:
    """Create a provisioned cluster."""
    cluster = _create(call, call.params)
    return {"ClusterArn": cluster.arn, "ClusterName": cluster.name, "State": "CREATING"}


@operation("kafka", "CreateClusterV2")
def create_cluster_v2(call: Call) -> dict[str, Any]:
    """Create a provisioned or a serverless cluster."""
    kinds = {"Provisioned": _create, "Serverless": _create_serverless}
    given = [kind for kind in kinds if kind in call.params]
    if len(given) != 1:
        raise bad_request("Specify either Provisioned or Serverless")
    cluster = kinds[given[0]](call, call.params[given[0]])
    return {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "State": "CREATING",
        "ClusterType": given[0].upper(),
    }


@operation("kafka", "DescribeCluster")
def describe_cluster(call: Call) -> dict[str, Any]:
    """Describe a cluster, with its settings among its own members."""
    return {"ClusterInfo": _show_v1(find_cluster(call))}


@operation("kafka", "DescribeClusterV2")
def describe_cluster_v2(call: Call) -> dict[str, Any]:
    """Describe a cluster, with its settings under Provisioned."""
    return {"ClusterInfo": _show_v2(find_cluster(call))}


@operation("kafka", "ListClusters")
def list_clusters(call: Call) -> dict[str, Any]:
    """List the account's provisioned clusters by a prefix of their names."""
    found = [cluster for cluster in _filtered(call) if not cluster.serverless]
    page, more = PAGES.cut(call, found)
    return {"ClusterInfoList": [_show_v1(cluster) for cluster in page], **more}


@operation("kafka", "ListClustersV2")
def list_clusters_v2(call: Call) -> dict[str, Any]:
    """List the account's clusters, all or those of a type."""
    wanted = call.params.get("ClusterTypeFilter")
    found = [cluster for cluster in _filtered(call) if wanted in {None, _type_of(cluster)}]
    page, more = PAGES.cut(call, found)
    return {"ClusterInfoList": [_show_v2(cluster) for cluster in page], **more}


@operation("kafka", "DeleteCluster")
def delete_cluster(call: Call) -> dict[str, Any]:
    """Stop a cluster's brokers and delete it."""
    cluster = find_own_cluster(call)
    version = call.params.get("CurrentVersion", cluster.version)
    with cluster.lock:
        if version != cluster.version:
            raise bad_request(
                f"The current version of the cluster is {cluster.version}, not {version}"
            )
        if cluster.state not in {"ACTIVE", "FAILED"}:
            raise bad_request(f"You can't delete a cluster that is {cluster.state}")
        begin_deletion(call.cloud, cluster)
    return {"ClusterArn": cluster.arn, "State": "DELETING"}


@operation("kafka", "GetBootstrapBrokers")
def get_bootstrap_brokers(call: Call) -> dict[str, Any]:
    """Return the brokers and ports for each way to log in."""
    cluster = find_cluster(call)
    if cluster.state in {"CREATING", "FAILED", "DELETING"}:
        raise AwsError("ConflictException", f"The cluster has no brokers; it is {cluster.state}")
    return dict(bootstrap_strings(cluster))


@operation("kafka", "ListNodes")
def list_nodes(call: Call) -> dict[str, Any]:
    """List the brokers with their interfaces in the VPC, and the controllers of KRaft."""
    cluster = find_cluster(call)
    nodes = [_show_node(cluster, node) for node in list(cluster.nodes)]
    if has_controllers(cluster.settings["CurrentBrokerSoftwareInfo"]["KafkaVersion"]):
        nodes += [_show_controller(cluster, number) for number in range(1, _CONTROLLERS + 1)]
    page, more = PAGES.cut(call, nodes)
    return {"NodeInfoList": page, **more}


def _create(call: Call, given: dict[str, Any]) -> Cluster:
    name = call.params["ClusterName"]
    check_name(name)
    settings = fill_settings(call, given)
    vpc_id = check_places(call.account, call.region, settings["BrokerNodeGroupInfo"])
    identity, label = new_identity()
    return _begin(
        call,
        Cluster(
            arn=f"arn:aws:kafka:{call.region}:{call.account}:cluster/{name}/{identity}",
            zone=f"{name.lower()}.{label}.kafka.{call.region}.amazonaws.com",
            vpc_id=vpc_id,
            settings=settings,
            tags=call.params.get("Tags", {}),
            properties=_configured(call, given),
            created_at=now(),
        ),
    )


def _create_serverless(call: Call, given: dict[str, Any]) -> Cluster:
    name = call.params["ClusterName"]
    check_name(name)
    return _begin(call, make_serverless(call, name, given))


def _begin(call: Call, cluster: Cluster) -> Cluster:
    kafka = own_state(call)
    with kafka.lock:
        if any(known.name == cluster.name for known in kafka.clusters.values()):
            raise AwsError("ConflictException", f"A cluster named {cluster.name} already exists")
        begin_cluster(call.cloud, cluster)
    return cluster


def _configured(call: Call, given: dict[str, Any]) -> dict[str, str]:
    if "ConfigurationInfo" not in given:
        return {}
    _, revision = find_revision(call, given["ConfigurationInfo"])
    return read_properties(revision.properties)


def _filtered(call: Call) -> list[Cluster]:
    prefix = call.params.get("ClusterNameFilter", "")
    return [
        cluster
        for cluster in list(own_state(call).clusters.values())
        if cluster.name.startswith(prefix)
    ]


def _show_v1(cluster: Cluster) -> dict[str, Any]:
    return {**cluster.settings, **_show_common(cluster)}


def _show_v2(cluster: Cluster) -> dict[str, Any]:
    own = (
        {"Serverless": show_serverless(cluster)}
        if cluster.serverless
        else {"Provisioned": cluster.settings}
    )
    return {**_show_common(cluster), "ClusterType": _type_of(cluster), **own}


def _type_of(cluster: Cluster) -> str:
    return "SERVERLESS" if cluster.serverless else "PROVISIONED"


def _show_common(cluster: Cluster) -> dict[str, Any]:
    shown = {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "CreationTime": cluster.created_at,
        "CurrentVersion": cluster.version,
        "State": cluster.state,
        "Tags": cluster.tags,
    }
    if cluster.reason:
        shown["StateInfo"] = {"Code": "BrokersNotStarted", "Message": cluster.reason}
    return shown


def _show_node(cluster: Cluster, node: BrokerNode) -> dict[str, Any]:
    return {
        "NodeType": "BROKER",
        "NodeARN": node.arn,
        "InstanceType": cluster.settings["BrokerNodeGroupInfo"]["InstanceType"],
        "AddedToClusterTime": node.added_at.isoformat(),
        "BrokerNodeInfo": {
            "BrokerId": float(node.broker_id),
            "AttachedENIId": node.interface_id,
            "ClientSubnet": node.subnet_id,
            "ClientVpcIpAddress": node.address,
            "CurrentBrokerSoftwareInfo": cluster.settings["CurrentBrokerSoftwareInfo"],
            "Endpoints": [node.name],
        },
    }


def _show_controller(cluster: Cluster, number: int) -> dict[str, Any]:
    return {"ControllerNodeInfo": {"Endpoints": [f"c-{10_000 + number}.{cluster.zone}"]}}
