"""The server.properties of a controller and of a broker, as plain mappings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CONTROLLER_ID = 100
CONTROLLER_PORT = 9093
INTERNAL_PORT = 9091
ADMIN_USER = "broker"

# MSK's ports by listener; the internal listener is beside them.
LISTENER_PORTS = {"PLAINTEXT": 9092, "TLS": 9094, "SCRAM": 9096, "IAM": 9098}
# The ports that brokers listen on here for multi-VPC connectivity. They advertise other names, such
# as b-1.scram.ZONE, and a port for each broker.
VPC_LISTENER_PORTS = {"VPC_SCRAM": 14096, "VPC_IAM": 14098}
_VPC_PORT = 14000
_PORTS = {"INTERNAL": INTERNAL_PORT, **LISTENER_PORTS, **VPC_LISTENER_PORTS}
_KAFKA = "org.apache.kafka.common.security"
_PROTOCOLS = {
    "CONTROLLER": "SASL_PLAINTEXT",
    "INTERNAL": "SASL_PLAINTEXT",
    "PLAINTEXT": "PLAINTEXT",
    "TLS": "SSL",
    "SCRAM": "SASL_SSL",
    "IAM": "SASL_SSL",
    "VPC_SCRAM": "SASL_SSL",
    "VPC_IAM": "SASL_SSL",
}


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """A cluster: its names, its addresses, and the caller's Kafka properties.

    `network` is the first three octets of the loopback addresses: broker N listens on `.N`, the
    controller on `.100`. Brokers without an entry in `racks` are in the zones a, b and c in turn.
    `properties` override ours, for the controller and the brokers. `exporters` are those of
    Prometheus that brokers have: JMX, NODE. Each broker answers to `bootstrap_name` as well. With
    `client_authorities` (PEM), the listener TLS asks clients for a certificate that one of them
    issued, and refuses clients without one, unless it is open to `anonymous` clients too.
    """

    zone: str = "local.abc123.c1.kafka.eu-central-1.amazonaws.com"
    network: str = "127.0.10"
    broker_count: int = 3
    listeners: frozenset[str] = frozenset({"TLS", "SCRAM", "IAM"})
    plaintext: bool = False
    exporters: frozenset[str] = frozenset()
    racks: Mapping[int, str] = field(default_factory=dict)
    token_url: str = "http://127.0.0.1:9/"  # noqa: S105 - checks tokens; by default none
    properties: Mapping[str, str] = field(default_factory=dict)
    bootstrap_name: str = ""
    client_authorities: str = ""
    anonymous: bool = True

    @property
    def ports(self) -> dict[str, int]:
        """The listeners of a broker with MSK's ports, and the internal listener."""
        wanted = {"INTERNAL", *self.listeners, *(["PLAINTEXT"] if self.plaintext else [])}
        return {name: port for name, port in _PORTS.items() if name in wanted}

    def rack(self, broker_id: int) -> str:
        """Return the availability zone of a broker."""
        return self.racks.get(broker_id) or self.zone.split(".")[-3] + "abc"[(broker_id - 1) % 3]

    def address(self, node_id: int) -> str:
        """Return the loopback address of a broker or of the controller."""
        return f"{self.network}.{node_id}"

    def name(self, broker_id: int) -> str:
        """Return the name that MSK would advertise for the broker."""
        return f"b-{broker_id}.{self.zone}"

    def names(self, broker_id: int) -> list[str]:
        """Return all names of a broker, which its certificate has."""
        own = [self.name(broker_id), *filter(None, [self.bootstrap_name])]
        return [*own, *(host for host, _ in self._vpc_places(broker_id).values())]

    def advertised(self, broker_id: int) -> dict[str, tuple[str, int]]:
        """Return the host and port that a broker advertises, by listener."""
        return {
            **{name: (self.name(broker_id), port) for name, port in self.ports.items()},
            "INTERNAL": (self.address(broker_id), INTERNAL_PORT),
            **self._vpc_places(broker_id),
        }

    def _vpc_places(self, broker_id: int) -> dict[str, tuple[str, int]]:
        """Return the host and port of a broker for VPC connections, by listener."""
        return {
            name: vpc_place(self.zone, broker_id, name)
            for name in VPC_LISTENER_PORTS
            if name in self.listeners
        }


def vpc_place(zone: str, broker_id: int, listener: str) -> tuple[str, int]:
    """Return the host and port of a broker for MSK's VPC connections: b-1.scram.ZONE, 14001."""
    login = listener.removeprefix("VPC_").lower()
    return f"b-{broker_id}.{login}.{zone}", _VPC_PORT + broker_id


def controller_properties(spec: ClusterSpec, password: str, data: Path) -> dict[str, str]:
    """Return the controller's server.properties."""
    address = f"{spec.address(CONTROLLER_ID)}:{CONTROLLER_PORT}"
    return {
        **_common_properties(spec, password),
        "process.roles": "controller",
        "node.id": str(CONTROLLER_ID),
        "listeners": f"CONTROLLER://{address}",
        "num.io.threads": "1",
        "log.dirs": str(data),
        **spec.properties,
    }


def broker_properties(
    spec: ClusterSpec, password: str, data: Path, broker_id: int, key_store: Path
) -> dict[str, str]:
    """Return the server.properties of one broker."""
    address = spec.address(broker_id)
    listening = {name: (address, port) for name, port in spec.ports.items()}
    return {
        **_common_properties(spec, password),
        "process.roles": "broker",
        "node.id": str(broker_id),
        "broker.rack": spec.rack(broker_id),
        "listeners": _join_listeners(listening),
        "advertised.listeners": _join_listeners(spec.advertised(broker_id)),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(key_store),
        **_login_properties(),
        **_certificate_properties(spec),
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
        "num.io.threads": "2",
        "background.threads": "2",
        "log.dirs": str(data),
        **spec.properties,
    }


def _login_properties() -> dict[str, str]:
    """Return the ways to log in of each listener."""
    properties: dict[str, str] = {}
    for name in ("scram", "vpc_scram"):
        scram = f"listener.name.{name}"
        properties |= {
            f"{scram}.sasl.enabled.mechanisms": "SCRAM-SHA-512",
            f"{scram}.scram-sha-512.sasl.jaas.config": f"{_KAFKA}.scram.ScramLoginModule required;",
        }
    for name in ("iam", "vpc_iam"):
        iam = f"listener.name.{name}"
        oauth = f"{iam}.oauthbearer.sasl"
        properties |= {
            f"{iam}.sasl.enabled.mechanisms": "OAUTHBEARER,AWS_MSK_IAM",
            f"{iam}.aws_msk_iam.sasl.jaas.config": "localcloud.Broker$PayloadLogin required;",
            f"{oauth}.jaas.config": f"{_KAFKA}.oauthbearer.OAuthBearerLoginModule required;",
            f"{oauth}.server.callback.handler.class": "localcloud.Broker$TokenCheck",
            f"{iam}.connections.max.reauth.ms": "3600000",
        }
    return properties


def _certificate_properties(spec: ClusterSpec) -> dict[str, str]:
    """Return how the listener TLS asks clients for certificates, if it does."""
    if not spec.client_authorities:
        return {}
    tls = "listener.name.tls.ssl"
    return {
        f"{tls}.client.auth": "requested" if spec.anonymous else "required",
        f"{tls}.truststore.type": "PEM",
        # A value is one line in the file.
        f"{tls}.truststore.certificates": spec.client_authorities.replace("\n", r"\n"),
    }


def write_properties(home: Path, properties: Mapping[str, str]) -> Path:
    """Write server.properties, which holds passwords, readable only by this user."""
    path = home / "server.properties"
    path.touch(mode=0o600)
    path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    return path


def _common_properties(spec: ClusterSpec, password: str) -> dict[str, str]:
    protocols = ",".join(f"{name}:{protocol}" for name, protocol in _PROTOCOLS.items())
    # Not PLAINTEXT: a TLS client without a certificate is User:ANONYMOUS too, and would have the
    # same permissions as the brokers have among themselves.
    login = (
        f'{_KAFKA}.plain.PlainLoginModule required username="{ADMIN_USER}" '
        f'password="{password}" user_{ADMIN_USER}="{password}";'
    )
    common = {
        # For both roles: the controller creates topics and does not know the brokers' defaults.
        **_replication_properties(spec.broker_count),
        "controller.quorum.bootstrap.servers": f"{spec.address(CONTROLLER_ID)}:{CONTROLLER_PORT}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "INTERNAL",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.security.protocol.map": protocols,
        "authorizer.class.name": "localcloud.Broker$Access",
        "super.users": f"User:{ADMIN_USER}",
        "allow.everyone.if.no.acl.found": "false",
        "num.network.threads": "1",
        # A restarted broker must wait until its old session expires: 9 s by default.
        "broker.session.timeout.ms": "2500",
        "broker.heartbeat.interval.ms": "400",
        # By default the controller writes an empty record twice a second, which brokers apply.
        "metadata.max.idle.interval.ms": "0",
        # The default of 128 MB does not fit the heap.
        "log.cleaner.dedupe.buffer.size": str(4 * 1024 * 1024),
    }
    for listener in ("controller", "internal"):
        common[f"listener.name.{listener}.sasl.enabled.mechanisms"] = "PLAIN"
        common[f"listener.name.{listener}.plain.sasl.jaas.config"] = login
    return common


def _replication_properties(broker_count: int) -> dict[str, str]:
    replicas = str(min(3, broker_count))
    in_sync = str(max(1, min(2, broker_count - 1)))
    internal = ("transaction.state.log", "share.coordinator.state.topic")
    return {
        "default.replication.factor": replicas,
        "offsets.topic.replication.factor": replicas,
        **{f"{topic}.replication.factor": replicas for topic in internal},
        "min.insync.replicas": in_sync,
        **{f"{topic}.min.isr": in_sync for topic in internal},
        **{f"{topic}.num.partitions": "3" for topic in ("offsets.topic", *internal)},
    }


def _join_listeners(places: Mapping[str, tuple[str, int]]) -> str:
    return ",".join(f"{name}://{host}:{port}" for name, (host, port) in places.items())
