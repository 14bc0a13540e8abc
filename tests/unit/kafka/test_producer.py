"""Nothing is passed to Kafka after the deadline of its sender."""

from __future__ import annotations

import threading
from typing import Any
from unittest.mock import Mock

import pytest
from kafka.errors import KafkaTimeoutError

from penstock.errors import BrokerUnavailableError, DeliveryError
from penstock.kafka import KafkaSettings, Message, Producer, Security, producer
from tests.stubs.clock import FakeTime


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    """The clock of the producer."""
    time = FakeTime()
    monkeypatch.setattr(producer, "time", time)
    return time


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """The client that every producer gets."""
    client = Mock()
    monkeypatch.setattr(producer, "_build_client", lambda *_: client)
    monkeypatch.setattr(producer, "check_access", Mock())
    return client


def _open() -> Producer:
    settings = KafkaSettings(bootstrap_servers=("b:9092",), security=Security.PLAINTEXT)
    return Producer(settings, 10.0)


def test_a_record_is_not_sent_if_connecting_took_too_long(
    client: Mock, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(producer, "check_access", lambda *_: time.sleep(3))

    (outcome,) = _open().send_all([Message("t", b"late")], seconds=1.0)

    assert isinstance(outcome, DeliveryError)
    assert str(outcome) == "a record for topic 't' was not sent in time"
    assert client.send.call_count == 0


def test_records_after_the_deadline_are_not_sent(client: Mock, time: FakeTime) -> None:
    sent: list[bytes] = []

    def send(topic: str, value: bytes, *_: Any, **__: Any) -> Mock:
        sent.append(value)
        time.sleep(0.6)
        return Mock(get=Mock(side_effect=KafkaTimeoutError))

    client.send = send

    outcomes = _open().send_all([Message("t", b"%d" % n) for n in range(4)], seconds=1.0)

    assert sent == [b"0", b"1"]
    assert [type(each) for each in outcomes] == [DeliveryError] * 4


def test_a_sender_does_not_wait_for_another_one_longer_than_its_deadline(
    client: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    connecting, go_on = threading.Event(), threading.Event()

    def check_access(*_: Any) -> None:
        connecting.set()
        go_on.wait(60)

    monkeypatch.setattr(producer, "check_access", check_access)
    ours = _open()
    first = threading.Thread(target=ours.connect)
    first.start()
    assert connecting.wait(60)

    with pytest.raises(BrokerUnavailableError, match="another send was still connecting"):
        ours.send_all([Message("t", b"x")], seconds=0.01)
    go_on.set()
    first.join()

    assert client.send.call_count == 0
