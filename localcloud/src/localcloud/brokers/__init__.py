"""Real Kafka brokers as processes: the local Amazon MSK."""

from __future__ import annotations

from localcloud.brokers.archive import choose_network, prepare_brokers
from localcloud.brokers.cluster import BrokerCluster
from localcloud.brokers.properties import LISTENER_PORTS, ClusterSpec
from localcloud.brokers.token_server import serve_token_checks

__all__ = [
    "LISTENER_PORTS",
    "BrokerCluster",
    "ClusterSpec",
    "choose_network",
    "prepare_brokers",
    "serve_token_checks",
]
