"""The probe against servers that are silent, rude or of another trade; no Kafka needed."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.record import util as kafka_record

from penstock.errors import BrokerNameError, BrokerUnavailableError
from penstock.kafka import _connection, probe
from penstock.kafka._connection import Connection, LoginRefused
from penstock.kafka.probe import check_access
from tests.stubs.clock import FakeTime

_PLAINTEXT = {"client_id": "test", "security_protocol": "PLAINTEXT"}
_TLS = {
    "client_id": "test",
    "security_protocol": "SSL",
    "ssl_context": ssl.create_default_context(),
}


@contextmanager
def _served(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that treats its one caller so."""

    def serve() -> None:
        with server.accept()[0] as caller:
            answer(caller)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def _stay_silent(caller: socket.socket) -> None:
    while caller.recv(1_000):
        pass


def _check(options: dict[str, Any], *servers: str, seconds: float = 1) -> None:
    check_access({**options, "bootstrap_servers": list(servers)}, timeout_seconds=seconds)


@pytest.mark.parametrize("options", [_PLAINTEXT, _TLS], ids=["plaintext", "tls"])
def test_silence_ends_with_the_deadline(options: dict[str, Any]) -> None:
    with _served(_stay_silent) as one, _served(_stay_silent) as two:
        with pytest.raises(BrokerUnavailableError) as caught:
            _check(options, one, two, seconds=0.2)

    assert str(caught.value) == f"{one} does not answer in time; {two} does not answer in time"


def test_brokers_share_the_time_of_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    time, deadlines = FakeTime(100), []

    def read_metadata(
        server: str, options: Any, topics: Any, deadline: float, version: int
    ) -> None:
        deadlines.append(deadline)
        time.now = deadline
        raise BrokerUnavailableError(f"{server} does not answer in time")

    monkeypatch.setattr(probe, "time", time)
    monkeypatch.setattr(probe, "read_metadata", read_metadata)
    with pytest.raises(BrokerUnavailableError):
        _check(_PLAINTEXT, "a:1", "b:1", "c:1")

    assert deadlines == [100.5, 100.75, 101]


def test_a_server_that_closes_the_connection() -> None:
    with _served(lambda caller: None) as server:
        with pytest.raises(BrokerUnavailableError, match=f"{server} cannot be reached: "):
            _check(_PLAINTEXT, server)


@pytest.mark.parametrize("options", [_PLAINTEXT, _TLS], ids=["plaintext", "tls"])
@pytest.mark.parametrize("greeting", [b"220 mail.example.com ESMTP\r\n", b"\0\0\0\x08abcdefgh"])
def test_a_server_of_another_protocol(options: dict[str, Any], greeting: bytes) -> None:
    expected = f"; expected a broker with security {options['security_protocol']}$"

    with _served(lambda caller: caller.sendall(greeting)) as server:
        with pytest.raises(BrokerUnavailableError, match=expected):
            _check(options, server)


def test_a_name_that_does_not_resolve_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: done.wait(60))

    with pytest.raises(BrokerUnavailableError, match=r"^b.x:9092 does not answer in time$"):
        check_access(_PLAINTEXT | {"bootstrap_servers": ["b.x:9092"]}, timeout_seconds=0.05)
    done.set()


def test_a_name_that_is_not_one() -> None:
    with pytest.raises(
        BrokerNameError,
        match=r"does not resolve; expected a broker of .* privatelink resolve only in",
    ):
        _check(_PLAINTEXT, f"{'b' * 70}.x:9092")


def test_every_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with _served(lambda caller: None) as server:
        port = int(server.rpartition(":")[2])
        addresses = [("", "", "", "", ("127.0.0.2", port)), ("", "", "", "", ("127.0.0.1", port))]
        monkeypatch.setattr(_connection, "_resolve", lambda *_: addresses)

        with pytest.raises(
            BrokerUnavailableError, match=r"(it closed the connection|reset by peer)"
        ):
            _check(_PLAINTEXT, f"b.x:{port}")


class _Scripted(Connection):
    """A connection on which the broker's answers are known."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)

    def ask(self, request: Any) -> Any:
        return self._answers.pop(0)


def test_a_broker_must_prove_that_it_knows_the_password() -> None:
    options = {
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "u",
        "sasl_plain_password": "p",
    }
    offer = SimpleNamespace(mechanisms=["SCRAM-SHA-512"])
    foreign = SimpleNamespace(error_code=0, auth_bytes=b"r=not-yours,s=c2FsdA==,i=4096")

    with pytest.raises(LoginRefused, match="its proof of the password is wrong: Server nonce"):
        _Scripted(offer, foreign).log_in(options)


def test_kafka_python_has_the_fast_checksum() -> None:
    # Without the package crc32c it computes each in Python and reads 20 times slower.
    assert kafka_record.crc32c_c is not None
