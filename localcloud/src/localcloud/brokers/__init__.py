"""Real Kafka brokers as processes: the local Amazon MSK."""

from __future__ import annotations

from localcloud.brokers.addresses import choose_network
from localcloud.brokers.archive import prepare_brokers
from localcloud.brokers.cluster import BrokerCluster
from localcloud.brokers.exporters import (
    EXPORTER_PORTS,
    NO_NODE_EXPORTER,
    find_node_exporter,
    scrape_jmx,
)
from localcloud.brokers.properties import (
    LISTENER_PORTS,
    VPC_LISTENER_PORTS,
    ClusterSpec,
    vpc_place,
)
from localcloud.brokers.token_server import serve_token_checks

__all__ = [
    "EXPORTER_PORTS",
    "LISTENER_PORTS",
    "NO_NODE_EXPORTER",
    "VPC_LISTENER_PORTS",
    "BrokerCluster",
    "ClusterSpec",
    "choose_network",
    "find_node_exporter",
    "prepare_brokers",
    "scrape_jmx",
    "serve_token_checks",
    "vpc_place",
]
