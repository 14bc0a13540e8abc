"""The listeners of a cluster: MSK's ports by the enabled ways to log in."""

from __future__ import annotations

from typing import Any

from localcloud.brokers import EXPORTER_PORTS, LISTENER_PORTS, find_node_exporter, vpc_place
from localcloud.services.kafka.model import Cluster

_ANSWERS = {
    "PLAINTEXT": "BootstrapBrokerString",
    "TLS": "BootstrapBrokerStringTls",
    "SCRAM": "BootstrapBrokerStringSaslScram",
    "IAM": "BootstrapBrokerStringSaslIam",
}
_VPC_ANSWERS = {
    "TLS": "BootstrapBrokerStringVpcConnectivityTls",
    "SCRAM": "BootstrapBrokerStringVpcConnectivitySaslScram",
    "IAM": "BootstrapBrokerStringVpcConnectivitySaslIam",
}


def enabled_listeners(settings: dict[str, Any]) -> frozenset[str]:
    """Return the listeners of a cluster with these settings."""
    login = settings.get("ClientAuthentication", {})
    transit = settings["EncryptionInfo"]["EncryptionInTransit"]["ClientBroker"]
    open_to_all = admits_anyone(settings)
    return frozenset(
        name
        for name, enabled in {
            "PLAINTEXT": open_to_all and transit != "TLS",
            "TLS": (open_to_all or is_enabled(login, "Tls")) and transit != "PLAINTEXT",
            "SCRAM": is_enabled(login, "Sasl", "Scram"),
            "IAM": is_enabled(login, "Sasl", "Iam"),
        }.items()
        if enabled
    )


def admits_anyone(settings: dict[str, Any]) -> bool:
    """Return whether a cluster with these settings admits clients without a login."""
    login = settings.get("ClientAuthentication", {})
    return bool(login.get("Unauthenticated", {}).get("Enabled", not any_login(login)))


def all_listeners(settings: dict[str, Any]) -> frozenset[str]:
    """Return the listeners of a cluster with these settings, those for VPC connections too."""
    return enabled_listeners(settings) | {f"VPC_{name}" for name in vpc_logins(settings)}


def open_ports(settings: dict[str, Any]) -> dict[str, int]:
    """Return the ports of a cluster with these settings, by listener."""
    return {name: LISTENER_PORTS[name] for name in enabled_listeners(settings)}


def enabled_exporters(settings: dict[str, Any]) -> frozenset[str]:
    """Return the exporters of open monitoring of a cluster with these settings."""
    prometheus = settings.get("OpenMonitoring", {}).get("Prometheus", {})
    names = {"JMX": "JmxExporter", "NODE": "NodeExporter"}
    return frozenset(
        name for name, key in names.items() if prometheus.get(key, {}).get("EnabledInBroker")
    )


def exporter_ports(settings: dict[str, Any]) -> frozenset[int]:
    """Return the ports of the exporters that brokers with these settings have on this machine."""
    missing = set() if find_node_exporter() else {"NODE"}
    return frozenset(EXPORTER_PORTS[name] for name in enabled_exporters(settings) - missing)


def any_login(login: dict[str, Any]) -> bool:
    """Return whether any way to log in is enabled."""
    return any(is_enabled(login, *path) for path in [("Sasl", "Scram"), ("Sasl", "Iam"), ("Tls",)])


def is_enabled(value: dict[str, Any], *path: str) -> bool:
    """Return `Enabled` at the end of a path; a list of authorities enables TLS by itself."""
    for name in path:
        value = value.get(name) or {}
    return bool(value.get("Enabled", value.get("CertificateAuthorityArnList")))


def bootstrap_strings(cluster: Cluster) -> dict[str, str]:
    """Return the answer of GetBootstrapBrokers."""
    if cluster.bootstrap_name:
        return {_ANSWERS["IAM"]: f"{cluster.bootstrap_name}:{LISTENER_PORTS['IAM']}"}
    strings = {
        _ANSWERS[name]: ",".join(f"{node.name}:{port}" for node in cluster.nodes)
        for name, port in open_ports(cluster.settings).items()
    }
    for name in vpc_logins(cluster.settings):
        places = (vpc_place(cluster.zone, node.broker_id, name) for node in cluster.nodes)
        strings[_VPC_ANSWERS[name]] = ",".join(f"{host}:{port}" for host, port in places)
    return strings


def vpc_logins(settings: dict[str, Any]) -> frozenset[str]:
    """Return the ways to log in that are enabled for VPC connections."""
    connectivity = settings["BrokerNodeGroupInfo"]["ConnectivityInfo"]
    login = connectivity.get("VpcConnectivity", {}).get("ClientAuthentication", {})
    paths = {"SCRAM": ("Sasl", "Scram"), "IAM": ("Sasl", "Iam"), "TLS": ("Tls",)}
    return frozenset(name for name, path in paths.items() if is_enabled(login, *path))
