"""The clusters for the rest of localcloud, and the actions on their brokers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcloud.brokers import NO_NODE_EXPORTER, find_node_exporter
from localcloud.cloud import Cloud
from localcloud.door.control import action, describe
from localcloud.services.kafka.brokers import RunningBrokers
from localcloud.services.kafka.listeners import enabled_exporters, open_ports
from localcloud.services.kafka.model import BrokerNode, Cluster, all_clusters
from localcloud.services.kafka.processes import running


@dataclass(frozen=True, slots=True)
class RunningNode:
    """A broker: its name and interface in the VPC, and its address on this machine."""

    broker_id: int
    name: str
    interface_id: str
    interface_address: str
    loopback_address: str


@dataclass(frozen=True, slots=True)
class RunningCluster:
    """A cluster whose brokers answer; `ports` are by listener: PLAINTEXT, TLS, SCRAM, IAM."""

    arn: str
    name: str
    account: str
    region: str
    vpc_id: str
    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]
    ports: dict[str, int]
    nodes: tuple[RunningNode, ...]
    ca_file: Path


class ClusterDirectory:
    """Every cluster of every account that has brokers."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def clusters(self) -> list[RunningCluster]:
        """List the clusters that have brokers."""
        return [
            _view(cluster, cluster.brokers)
            for cluster in all_clusters(self._cloud)
            if cluster.brokers is not None
        ]


@action("kill-broker")
def kill_broker(cloud: Cloud, *, cluster: str, broker: int) -> dict[str, Any]:
    """Kill a broker with SIGKILL; `cluster` is a name or an ARN."""
    found, node = _find_node(cloud, cluster, broker)
    running(found).kill(node.broker_id)
    return {"killed": node.name}


@action("pause-broker")
def pause_broker(cloud: Cloud, *, cluster: str, broker: int) -> dict[str, Any]:
    """Stop a broker with SIGSTOP: its connections stay open without answers."""
    found, node = _find_node(cloud, cluster, broker)
    running(found).pause(node.broker_id)
    return {"paused": node.name}


@action("resume-broker")
def resume_broker(cloud: Cloud, *, cluster: str, broker: int) -> dict[str, Any]:
    """Continue a paused broker."""
    found, node = _find_node(cloud, cluster, broker)
    running(found).resume(node.broker_id)
    return {"resumed": node.name}


@action("restart-broker")
def restart_broker(cloud: Cloud, *, cluster: str, broker: int) -> dict[str, Any]:
    """Start a broker, after stopping it if it runs; the answer comes when it is ready."""
    found, node = _find_node(cloud, cluster, broker)
    running(found).restart(node.broker_id)
    return {"restarted": node.name}


@describe("clusters")
def describe_clusters(cloud: Cloud) -> list[dict[str, Any]]:
    """List the clusters with their start times and processes."""
    return [_show(cluster) for cluster in all_clusters(cloud)]


def _find_node(cloud: Cloud, name: str, broker_id: int) -> tuple[Cluster, BrokerNode]:
    clusters = all_clusters(cloud)
    found = [c for c in clusters if name in {c.name, c.arn} and c.brokers is not None]
    if len(found) != 1:
        known = ", ".join(sorted(c.arn for c in clusters)) or "no cluster"
        raise LookupError(f"{len(found)} running clusters are named {name!r}; there is {known}")
    return found[0], found[0].node(broker_id)


def _view(cluster: Cluster, brokers: RunningBrokers) -> RunningCluster:
    return RunningCluster(
        arn=cluster.arn,
        name=cluster.name,
        account=cluster.account,
        region=cluster.region,
        vpc_id=cluster.vpc_id,
        subnet_ids=tuple(cluster.settings["BrokerNodeGroupInfo"]["ClientSubnets"]),
        security_group_ids=tuple(cluster.security_groups),
        ports=open_ports(cluster.settings),
        nodes=tuple(
            RunningNode(
                broker_id=node.broker_id,
                name=node.name,
                interface_id=node.interface_id,
                interface_address=node.address,
                loopback_address=brokers.address(node.broker_id),
            )
            for node in cluster.nodes
        ),
        ca_file=brokers.ca_file,
    )


def _show(cluster: Cluster) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": cluster.name,
        "arn": cluster.arn,
        "state": cluster.state,
        "start_seconds": cluster.start_seconds,
    }
    if cluster.reason:
        shown["reason"] = cluster.reason
    if "NODE" in enabled_exporters(cluster.settings) and not find_node_exporter():
        shown["not_exported"] = NO_NODE_EXPORTER
    if cluster.brokers is not None:
        shown["ca_file"] = str(cluster.brokers.ca_file)
        shown["brokers"] = {
            node.name: cluster.brokers.address(node.broker_id) for node in cluster.nodes
        }
        shown["processes"] = [
            {"node": process.node_id, "pid": process.pid, "memory_mb": process.memory_mb}
            for process in cluster.brokers.processes
        ]
    return shown
