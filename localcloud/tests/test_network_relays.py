"""What a relay does to bytes and connections, with and without faults."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import closing

import pytest

from localcloud.network import load_network
from localcloud.testing import wait_until
from tests.dialling import WAIT_SECONDS
from tests.two_accounts import PORT

ZONE = "relays.abc123.c1.kafka.eu-central-1.amazonaws.com"


@pytest.fixture
def host(accounts, cloud):
    """The broker's name, in a view of the consumer's VPC; whatever was done to it is undone."""
    host = accounts.brokers[0].host
    load_network(cloud).view(accounts.source)
    yield host
    ask(cloud, "restore-link", host=host)


@pytest.fixture
def dial(accounts, cloud, host):
    """Connect to the broker from the consumer's VPC and read its greeting."""
    opened = []

    def connect():
        address = load_network(cloud).view(accounts.source).addresses[host]
        connection = socket.create_connection((address, PORT), timeout=WAIT_SECONDS)
        opened.append(connection)
        assert connection.recv(len(host) + 1).decode() == f"{host}\n"
        return connection

    yield connect
    for connection in opened:
        connection.close()


def ask(cloud, name, **arguments):
    url = f"{cloud.endpoint}/_localcloud/{name}"
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(arguments).encode(), headers, method="POST")
    with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
        return json.load(answer)


def test_bytes_come_back_as_they_went(dial):
    sent = bytes(range(256)) * 4096
    connection = dial()

    threading.Thread(target=connection.sendall, args=(sent,), daemon=True).start()

    received = bytearray()
    while len(received) < len(sent):
        received += connection.recv(65536)
    assert bytes(received) == sent


def connections_to(cloud, host):
    return {it for link in load_network(cloud).links(host) for it in list(link.connections)}


def send_until_stuck(connection):
    """Send without reading until nothing more is taken; returns how much was."""
    connection.settimeout(0.3)
    total = 0
    with pytest.raises(TimeoutError):
        while total < 256 * 1024 * 1024:
            total += connection.send(b"x" * 65536)
    return total


def test_the_relay_buffers_no_more_than_the_kernel(dial):
    """The rest waits with the sender: the kernel's buffers, there and back, take some 30 MiB."""
    assert send_until_stuck(dial()) < 64 * 1024 * 1024  # with its own, the relay would take 256


def test_a_connection_with_bytes_that_cannot_be_written_is_closed(cloud, dial, host, monkeypatch):
    """The server waits for us to read, we for it: only giving up ends that."""
    monkeypatch.setattr("localcloud.network._connection._FLUSH_SECONDS", 0.1)
    earlier = connections_to(cloud, host)
    connection = dial()
    send_until_stuck(connection)

    connection.close()

    wait_until(
        "the connection is closed", lambda: not connections_to(cloud, host) - earlier, WAIT_SECONDS
    )


def test_the_end_of_one_side_reaches_the_other(dial):
    connection = dial()
    connection.sendall(b"last words")

    connection.shutdown(socket.SHUT_WR)

    assert connection.recv(100) == b"last words"
    assert connection.recv(100) == b""


def test_a_cut_link_carries_nothing_until_restored(cloud, dial, host):
    live = dial()

    done = ask(cloud, "cut-link", host=host)

    [name] = [link for link in done["links"] if link.startswith(f"{host}:{PORT} from vpc-")]
    with pytest.raises(ConnectionResetError):
        live.recv(1)
    with pytest.raises((ConnectionResetError, AssertionError)):
        dial()
    refusals = [link.refusal for link in load_network(cloud).links(host) if link.refusal]
    assert refusals == [f"the link {name} was cut on purpose; restore it"]
    ask(cloud, "restore-link", host=host)
    dial()


def test_a_reset_link_takes_new_connections_at_once(cloud, dial, host):
    live = dial()

    ask(cloud, "reset-link", host=host)

    with pytest.raises(ConnectionResetError):
        live.recv(1)
    dial()


def test_a_silent_link_keeps_what_is_sent_until_it_is_restored(cloud, dial, host):
    live = dial()
    ask(cloud, "silence-link", host=host)

    live.sendall(b"late")
    live.shutdown(socket.SHUT_WR)  # arrives after what was sent before it
    live.settimeout(0.3)
    with pytest.raises(TimeoutError):
        live.recv(1)
    with (
        socket.create_connection(live.getpeername(), timeout=0.3) as new,
        pytest.raises(TimeoutError),
    ):
        new.recv(1)

    assert sum(link.held for link in load_network(cloud).links(host)) == 1
    ask(cloud, "restore-link", host=host)
    live.settimeout(WAIT_SECONDS)
    assert live.recv(100) == b"late"
    assert live.recv(100) == b""


def test_a_slow_link_is_slow(cloud, dial, host):
    connection = dial()
    ask(cloud, "slow-link", host=host, latency_ms=50, bytes_per_second=10_000)
    started = time.monotonic()

    connection.sendall(b"x" * 1000)  # 50 ms + 100 ms, there and back
    received = b""
    while len(received) < 1000:
        received += connection.recv(1000)

    assert time.monotonic() - started >= 0.3


def test_a_connection_is_forgotten_after_the_idle_time_of_private_link(cloud, dial, host):
    connection = dial()
    assert {link.idle_seconds for link in load_network(cloud).links(host)} == {350.0}
    ask(cloud, "expire-link", host=host, idle_ms=1)
    time.sleep(0.05)

    connection.sendall(b"after a pause")

    with pytest.raises(ConnectionResetError):
        connection.recv(1)
    refusals = [link.refusal for link in load_network(cloud).links(host) if link.refusal]
    assert [it.partition(": ")[2] for it in refusals] == ["idle for longer than 0.001 s, so reset"]
    ask(cloud, "restore-link", host=host)
    dial().sendall(b"with a new connection")


@pytest.mark.parametrize("limit", ["latency_ms", "bytes_per_second"])
def test_a_link_cannot_be_faster_than_it_is(cloud, host, limit):
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(cloud, "slow-link", host=host, **{limit: -1})

    with refused.value as answer:
        assert json.load(answer) == {"error": f"{limit} is -1, expected 0 or more"}


def test_a_link_cannot_expire_at_once(cloud, host):
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(cloud, "expire-link", host=host, idle_ms=0)

    with refused.value as answer:
        assert json.load(answer) == {"error": "idle_ms is 0, expected more than 0"}


def test_status_lists_links_in_use(cloud, dial, host):
    dial()

    with urllib.request.urlopen(f"{cloud.endpoint}/_localcloud/status", timeout=60) as answer:
        links = json.load(answer)["links"]

    assert {"connections": 1, "refusal": None} in [
        {key: link[key] for key in ("connections", "refusal")}
        for link in links
        if link["name"].startswith(host)
    ]


def test_an_unknown_host_has_no_links(cloud):
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(cloud, "cut-link", host="b-9.nowhere")
    with closing(refused.value) as answer:
        assert json.load(answer) == {
            "error": "no process in any VPC resolves b-9.nowhere through a relay"
        }


def test_trace_by_the_control_door(cloud, accounts, host):
    found = ask(cloud, "trace", host=host, port=PORT, vpc=accounts.source.vpc_id)

    assert found["missing"] is None
    assert found["hops"][-1] == f"server {host}"
    group = accounts.groups["endpoint"]
    found = ask(cloud, "trace", host=host, port=PORT, vpc=accounts.source.vpc_id, group=group)
    assert f"let no TCP 9096 in from {group}" in found["missing"]


def test_trace_from_nowhere(cloud, host):
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(cloud, "trace", host=host, port=PORT, vpc="vpc-0")
    with closing(refused.value) as answer:
        assert json.load(answer) == {"error": "there is no VPC vpc-0 in any account"}
