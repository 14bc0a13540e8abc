"""The local brokers: they start together, come back, can be added, and end with their parent."""

from __future__ import annotations

import socket
import stat
from contextlib import ExitStack, closing
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest
from kafka import KafkaAdminClient

from localcloud.brokers import (
    BrokerCluster,
    ClusterSpec,
    choose_network,
    prepare_brokers,
    serve_token_checks,
)
from localcloud.errors import AddressInUseError, BrokerStartError, MissingToolError
from localcloud.network import resolve_names

pytestmark = pytest.mark.kafka

_LIMIT_KB = 200_000


def _brokers_seen(cluster: BrokerCluster) -> list[int]:
    with closing(cluster.open_admin()) as admin:
        return sorted(broker["broker_id"] for broker in admin.describe_cluster()["brokers"])


def _resident_kb(pid: int) -> int:
    (line,) = [x for x in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in x]
    return int(line.split()[1])


def test_life_of_a_cluster(tmp_path: Path) -> None:
    spec = ClusterSpec(network=choose_network(), broker_count=2)
    with (
        BrokerCluster(tmp_path, spec, jvm=prepare_brokers()) as cluster,
        resolve_names(cluster.names),
    ):
        assert _brokers_seen(cluster) == [1, 2]
        assert all(_resident_kb(pid) < _LIMIT_KB for pid in cluster.pids.values())
        assert cluster.bootstrap_servers("IAM").split(",")[1] == f"{cluster.spec.name(2)}:9098"

        cluster.kill(1)
        assert set(cluster.pids) == {2, 100}
        cluster.restart(1)
        cluster.restart(3)
        assert _brokers_seen(cluster) == [1, 2, 3]
        pids = cluster.pids.values()

    assert len(pids) == 4
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def _log_in(cluster: BrokerCluster, user: str, password: str) -> None:
    with resolve_names(cluster.names):
        KafkaAdminClient(
            bootstrap_servers=cluster.bootstrap_servers("SCRAM"),
            security_protocol="SASL_SSL",
            ssl_cafile=str(cluster.ca_file),
            sasl_mechanism="SCRAM-SHA-512",
            sasl_plain_username=user,
            sasl_plain_password=password,
            bootstrap_timeout_ms=4_000,
        ).close()


def test_a_second_start_keeps_identity_and_sets_users_again(tmp_path: Path) -> None:
    spec = ClusterSpec(network=choose_network(), broker_count=1)
    identity = set()

    for password in ("one", "two"):
        with BrokerCluster(tmp_path, spec, users={"u": password}, jvm=prepare_brokers()) as cluster:
            _log_in(cluster, "u", password)
            identity.add((cluster.ca_file.read_text(), (tmp_path / "cluster-id").read_text()))

    assert len(identity) == 1
    for private in ("ca.key", "broker-1/keystore.pem", "broker-1/server.properties"):
        assert stat.S_IMODE((tmp_path / private).stat().st_mode) == 0o600


def test_a_taken_address_is_named_before_anything_starts(tmp_path: Path) -> None:
    spec = ClusterSpec(network=choose_network(), broker_count=1)
    cluster = BrokerCluster(tmp_path, spec, jvm=prepare_brokers())

    with socket.create_server((spec.address(1), 9096)):
        with pytest.raises(AddressInUseError) as caught:
            cluster.start()

    assert str(caught.value) == (
        f"cannot listen on {spec.address(1)}:9096: Address already in use; end what listens there "
        "(`ss -ltnp 'sport = :9096'` shows it) or choose another network"
    )
    assert cluster.pids == {}


def test_a_broker_that_does_not_start_says_why(tmp_path: Path) -> None:
    spec = ClusterSpec(
        network=choose_network(), broker_count=1, properties={"log.retention.ms": "soon"}
    )
    cluster = BrokerCluster(tmp_path, spec, jvm=prepare_brokers())

    with pytest.raises(
        BrokerStartError, match=r"(?s)the controller ended with exit code .*log\.retention\.ms"
    ):
        cluster.start()

    assert cluster.pids == {}


def test_without_jars_or_jdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localcloud.brokers.jvm._JARS", tmp_path)
    with pytest.raises(MissingToolError, match=f"no jars in {tmp_path}: run `localcloud fetch`"):
        prepare_brokers()

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="javac was not found: install a JDK 17 or 21"):
        prepare_brokers()


def test_the_questions_of_many_brokers_wait_for_no_second_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A connection beyond those that the kernel may hold is tried again after a second."""
    taken = Event()

    def wait(server: ThreadingHTTPServer, request: socket.socket, _: Any) -> None:
        taken.wait(30)
        server.shutdown_request(request)

    monkeypatch.setattr(ThreadingHTTPServer, "process_request", wait)
    with serve_token_checks(lambda _: pytest.fail("asked")) as url, ExitStack() as asking:
        asking.callback(taken.set)
        for _ in range(24):
            place = ("127.0.0.1", urlsplit(url).port)
            asking.enter_context(socket.create_connection(place, timeout=0.5))
