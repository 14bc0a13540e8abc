"""The background work on a cluster: creation, changes, deletion."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from localcloud.authorities import Authorities
from localcloud.brokers import LISTENER_PORTS, VPC_LISTENER_PORTS, vpc_place
from localcloud.cloud import Cloud
from localcloud.door.operations import Call
from localcloud.network.nodes import ManagedConnection, Node, Nodes, Target
from localcloud.services.kafka.access import find_own_cluster
from localcloud.services.kafka.interfaces import add_nodes, drop_nodes
from localcloud.services.kafka.listeners import exporter_ports, open_ports, vpc_logins
from localcloud.services.kafka.model import (
    Cluster,
    ClusterOperation,
    Kafka,
    bad_request,
    new_identity,
    new_version,
    now,
)
from localcloud.services.kafka.processes import Launcher, running
from localcloud.services.kafka.scram import follow_secret
from localcloud.services.secretsmanager.secrets import SecretWatch


def begin_cluster(cloud: Cloud, cluster: Cluster) -> None:
    """Start the brokers of a new cluster in the background: CREATING, then ACTIVE or FAILED."""
    add_nodes(cluster, cluster.settings["NumberOfBrokerNodes"])
    cloud.state(_Following).begin(cloud)
    cloud.on_stop(lambda: _stop(cluster))
    cloud.state(Kafka, cluster.account, cluster.region).clusters[cluster.arn] = cluster
    _run(cluster, lambda: _start(cloud, cluster))


def begin_update(
    call: Call, kind: str, target: dict[str, Any], change: Callable[[Cluster], object]
) -> dict[str, Any]:
    """Change a cluster in the background: UPDATING, then ACTIVE with a new version.

    DescribeClusterOperation shows `target`. `change` makes the change; an exception from it fails
    the operation, and the version of the cluster does not change.
    """
    cluster = find_own_cluster(call)
    with cluster.lock:
        check_version_and_state(cluster, call.params.get("CurrentVersion"))
        operation = ClusterOperation(
            arn=f"{cluster.arn.replace(':cluster/', ':cluster-operation/')}/{new_identity()[0]}",
            kind=kind,
            source={k: v for k, v in describe_mutable(cluster).items() if k in target},
            target=target,
            started_at=now(),
        )
        cluster.operations.append(operation)
        cluster.state = "REBOOTING_BROKER" if kind == "REBOOT_NODE" else "UPDATING"
    _run(cluster, lambda: _update(cluster, operation, change))
    return {"ClusterArn": cluster.arn, "ClusterOperationArn": operation.arn}


def plug_nodes(cloud: Cloud, cluster: Cluster) -> None:
    """Register each broker and its ports behind its interface, or those of a serverless cluster."""
    if cluster.serverless:
        _plug_serverless(cloud, cluster)
        return
    ports = exporter_ports(cluster.settings).union(open_ports(cluster.settings).values())
    for node in cluster.nodes:
        address = running(cluster).address(node.broker_id)
        cloud.state(Nodes).plug(Node(node.name, node.interface_id, address, ports))
    plug_connections(cloud, cluster)


def _plug_serverless(cloud: Cloud, cluster: Cluster) -> None:
    """Let each VPC of a serverless cluster know its names, and that of all brokers."""
    port = LISTENER_PORTS["IAM"]
    names = {node.name: node.broker_id for node in cluster.nodes}
    names[cluster.bootstrap_name] = cluster.nodes[0].broker_id
    targets = {}
    for name, broker_id in names.items():
        server = Node(name, "", running(cluster).address(broker_id), frozenset({port}))
        targets[name] = Target(server, port, port)
    for config in cluster.vpc_configs:
        cloud.state(Nodes).connect(
            ManagedConnection(
                _connection_id(cluster, config),
                config["VpcId"],
                tuple(config["SubnetIds"]),
                tuple(config["SecurityGroupIds"]),
                targets,
            )
        )


def _connection_id(cluster: Cluster, config: dict[str, Any]) -> str:
    return f"{cluster.arn} in {config['VpcId']}"


def plug_connections(cloud: Cloud, cluster: Cluster) -> None:
    """Let the VPC connections to a cluster lead to its brokers, those that are available."""
    nodes = cloud.state(Nodes)
    for _, _, kafka in cloud.states(Kafka):
        for connection in list(kafka.vpc_connections.values()):
            if connection.cluster_arn != cluster.arn:
                continue
            if connection.state != "AVAILABLE":
                nodes.disconnect(connection.arn)
                continue
            nodes.connect(
                ManagedConnection(
                    connection.arn,
                    connection.vpc_id,
                    tuple(connection.subnets),
                    tuple(connection.security_groups),
                    _vpc_targets(cloud, cluster, connection.login),
                )
            )


def _vpc_targets(cloud: Cloud, cluster: Cluster, login: str) -> dict[str, Target]:
    if login not in vpc_logins(cluster.settings):
        return {}
    targets = {}
    for node in cluster.nodes:
        host, port = vpc_place(cluster.zone, node.broker_id, login)
        server = cloud.state(Nodes).behind(node.interface_id)
        if server is not None:
            targets[host] = Target(server, port, VPC_LISTENER_PORTS[f"VPC_{login}"])
    return targets


def begin_deletion(cloud: Cloud, cluster: Cluster) -> None:
    """Stop the brokers and delete the cluster, in the background: DELETING, then gone."""
    cluster.state = "DELETING"
    _run(cluster, lambda: _delete(cloud, cluster))


def check_version_and_state(cluster: Cluster, version: str | None) -> None:
    """Raise AwsError if the cluster has another version or is not ACTIVE."""
    if version is not None and version != cluster.version:
        raise bad_request(
            "The current version of the cluster doesn't match the version in the request: "
            f"{cluster.version}, not {version}"
        )
    if cluster.state != "ACTIVE":
        raise bad_request(f"The cluster must be ACTIVE for this; it is {cluster.state}")


def describe_mutable(cluster: Cluster) -> dict[str, Any]:
    """Return the settings that updates change, as operations show them before and after."""
    settings = cluster.settings
    group, software = settings["BrokerNodeGroupInfo"], settings["CurrentBrokerSoftwareInfo"]
    volume = group["StorageInfo"]["EbsStorageInfo"]["VolumeSize"]
    described = {
        **{name: settings[name] for name in _MUTABLE if name in settings},
        "InstanceType": group["InstanceType"],
        "ConnectivityInfo": group["ConnectivityInfo"],
        "KafkaVersion": software["KafkaVersion"],
        "BrokerEBSVolumeInfo": [{"KafkaBrokerNodeId": "ALL", "VolumeSizeGB": volume}],
    }
    if "ConfigurationArn" in software:
        described["ConfigurationInfo"] = {
            "Arn": software["ConfigurationArn"],
            "Revision": software["ConfigurationRevision"],
        }
    return described


_MUTABLE = (
    "NumberOfBrokerNodes",
    "EnhancedMonitoring",
    "OpenMonitoring",
    "LoggingInfo",
    "ClientAuthentication",
    "EncryptionInfo",
    "StorageMode",
)


class _Following:
    """Records whether the clusters follow their secrets."""

    def __init__(self) -> None:
        self._begun = False

    def begin(self, cloud: Cloud) -> None:
        if not self._begun:
            self._begun = True
            cloud.state(SecretWatch).watch(lambda arn: follow_secret(cloud, arn))


def _run(cluster: Cluster, work: Callable[[], None]) -> None:
    cluster.worker = threading.Thread(target=work, name=f"msk-{cluster.name}", daemon=True)
    cluster.worker.start()


def _start(cloud: Cloud, cluster: Cluster) -> None:
    try:
        cluster.brokers = cloud.state(Launcher).launch(cloud, cluster)
    except Exception as error:  # any error is shown by DescribeCluster
        cluster.reason = str(error)
        cluster.state = "FAILED"
    else:
        cloud.state(Authorities).add(cluster.arn, cluster.brokers.ca_file)
        plug_nodes(cloud, cluster)
        cluster.start_seconds = round((now() - cluster.created_at).total_seconds(), 1)
        cluster.state = "ACTIVE"


def _update(
    cluster: Cluster, operation: ClusterOperation, change: Callable[[Cluster], object]
) -> None:
    try:
        change(cluster)
    except Exception as error:  # any error is shown by the operation
        ends, operation.error = "UPDATE_FAILED", str(error)
    else:
        ends, cluster.version = "UPDATE_COMPLETE", new_version()
    operation.ended_at = now()
    cluster.state = "ACTIVE"
    operation.state = ends  # last: a waiting client may start the next change at once


def _delete(cloud: Cloud, cluster: Cluster) -> None:
    if cluster.brokers is not None:
        cluster.brokers.stop()
        cluster.brokers = None
    cloud.state(Authorities).remove(cluster.arn)
    for node in cluster.nodes:
        cloud.state(Nodes).unplug(node.interface_id)
    for config in cluster.vpc_configs:
        cloud.state(Nodes).disconnect(_connection_id(cluster, config))
    drop_nodes(cluster, 0)
    for _, _, kafka in cloud.states(Kafka):
        for connection in kafka.vpc_connections.values():
            if connection.cluster_arn == cluster.arn:
                connection.state = "INACTIVE"
    plug_connections(cloud, cluster)
    del cloud.state(Kafka, cluster.account, cluster.region).clusters[cluster.arn]


def _stop(cluster: Cluster) -> None:
    if cluster.worker is not None:
        cluster.worker.join()
    if cluster.brokers is not None:
        cluster.brokers.stop()
