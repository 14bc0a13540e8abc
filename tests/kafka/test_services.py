"""Two services that write to each other, while a broker is killed and their users are rotated."""

from __future__ import annotations

import importlib.util
import logging
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import Mock, patch

import pytest

from demo.services.messages import Messages
from localcloud.testing import wait_until
from penstock.errors import BrokerLoginError, DeliveryError, TopicForbiddenError
from penstock.kafka import Reader, Security, apply_readers, open_consumer
from systems.clusters import (
    ANONYMOUS,
    PRODUCER,
    Brokers,
    at_last,
    logged_in,
    read_to_end,
    running_brokers,
)

pytestmark = pytest.mark.kafka

_PROGRAM = Path(__file__).parents[2] / "examples" / "services" / "service.py"
_LINE = re.compile(
    r"writing 1 messages to [\w.-]+ \(partition: \d\)"
    r"|service-[ab]-\d received message: This is message \d+ from host \S+"
    r"|service-[ab]-\d: (reading|writing) .*; trying again"
)
_MESSAGES = 60


@pytest.fixture(scope="module")
def program() -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("service", _PROGRAM)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with patch.dict(sys.modules, service=module):
        spec.loader.exec_module(module)
        yield module


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    """Brokers of their own, of which one is killed."""
    with running_brokers(tmp_path_factory.mktemp("brokers")) as running:
        yield running


@pytest.fixture
def services(
    brokers: Brokers, keep_secret: Callable[..., str], program: Any, name: str
) -> dict[str, Any]:
    """The settings of both services, whose users may do no more than they need."""
    topics = {letter: brokers.create_topic(partitions=3) for letter in "ab"}
    found = {}
    for letter, other in ("ab", "ba"):
        prefix = f"{name}-{letter}-"
        users = [f"{name}_{letter}_{turn}" for turn in "ab"]
        readers = [Reader(user, (topics[other],), prefix, (topics[letter],)) for user in users]
        with logged_in(brokers, PRODUCER):
            apply_readers(brokers.settings(Security.IAM), readers)
        brokers.set_user(users[0], "1")
        arn = keep_secret(users[0], "1", f"{name}_{letter}")
        found[letter] = program.ServiceSettings(
            kafka=brokers.settings(Security.SCRAM, secret_arn=arn),
            topic1=topics[letter],
            topic2=topics[other],
            group=f"{prefix}1",
            seconds=0.1,
        )
    return found


@dataclass(frozen=True)
class Logins:
    """The users of both services: at the brokers, and in the secret of each service."""

    brokers: Brokers
    keep_secret: Callable[..., str]
    name: str

    def rotate(self) -> None:
        """Give each service its other user, as infra/modules/broker-cluster does."""
        for letter in "ab":
            self.brokers.set_user(f"{self.name}_{letter}_b", "2")
            self.keep_secret(f"{self.name}_{letter}_b", "2", f"{self.name}_{letter}")

    def change_password(self) -> None:
        """Change the password of service a, and keep the old one in its secret."""
        self.brokers.set_user(f"{self.name}_a_a", "2")

    def renew_secret(self) -> None:
        """Keep the changed password of service a in its secret."""
        self.keep_secret(f"{self.name}_a_a", "2", f"{self.name}_a")


@pytest.fixture
def logins(brokers: Brokers, keep_secret: Callable[..., str], name: str) -> Logins:
    """The users of this test."""
    return Logins(brokers, keep_secret, name)


def test_services_lose_no_message_while_a_broker_is_killed_and_users_are_rotated(
    services: dict[str, Any],
    logins: Logins,
    program: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "service")
    stop = Event()
    six = [
        replace(settings, host=f"service-{letter}-{number}")
        for letter, settings in services.items()
        for number in range(3)
    ]

    def await_more() -> None:
        before = _received(caplog).total()
        wait_until("messages flow", lambda: _received(caplog).total() > before + _MESSAGES, 120)

    with ThreadPoolExecutor(max_workers=7) as pool:
        running = {each.host: pool.submit(program.run, each, stop) for each in six}
        try:
            await_more()
            cluster = logins.brokers.cluster
            cluster.kill(cluster.broker_ids[0])
            await_more()
            logins.rotate()
            newcomer = replace(six[0], host="service-a-3")
            running[newcomer.host] = pool.submit(program.run, newcomer, stop)
            cluster.restart(cluster.broker_ids[0])
            await_more()
        finally:
            stop.set()
        written = {host: done.result() for host, done in running.items()}

    lines = [record.message for record in caplog.records if record.name == "service"]
    assert all(map(_LINE.fullmatch, lines)), lines
    left = [text for each in services.values() for text in _read_left(each)]
    received = _received(caplog) + Counter(left)
    assert Messages(Counter(written), received).find_lost() == set()


def test_a_client_finds_a_broker_that_came_back(brokers: Brokers) -> None:
    """Else it knows nobody who is there when the others restart."""
    number = brokers.cluster.broker_ids[0]
    topic = brokers.create_topic(partitions=3)
    brokers.allow(ANONYMOUS, topic, "READ")

    with open_consumer(brokers.settings(Security.PLAINTEXT), topic) as consumer:

        def knows_it() -> bool:
            consumer.poll(0.2)
            known = consumer._client._client.cluster.brokers()
            return number in {each.node_id for each in known}

        wait_until("it knows the broker", knows_it, 60)
        brokers.cluster.kill(number)
        wait_until("it has noticed", lambda: not knows_it(), 120)
        brokers.cluster.restart(number)

        wait_until("it knows the broker again", knows_it, 120)


def test_a_service_reads_its_secret_again_until_its_login_is_admitted(
    services: dict[str, Any], logins: Logins, program: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "service")
    settings, stop = replace(services["a"], host="service-a-0"), Event()
    write = program.write

    def lose_the_connection(*_: object) -> None:
        logins.change_password()
        program.write = write
        raise DeliveryError("the broker has gone")

    with (
        patch.object(program, "write", lose_the_connection),
        ThreadPoolExecutor(max_workers=1) as pool,
    ):
        running = pool.submit(program.run, settings, stop)
        try:
            wait_until("it is refused", lambda: "refuses the login by SCRAM" in caplog.text)
            logins.renew_secret()
            wait_until("it writes", lambda: "writing 1 messages" in caplog.text)
        finally:
            stop.set()
        assert running.result() > 0


def test_a_service_that_was_never_admitted_ends(
    services: dict[str, Any], logins: Logins, program: Any
) -> None:
    logins.change_password()

    with pytest.raises(BrokerLoginError, match="refuses the login by SCRAM-SHA-512"):
        program.run(services["a"], Event())


def test_a_service_is_refused_the_topic_and_the_group_of_the_other(
    services: dict[str, Any], program: Any
) -> None:
    a, b = services["a"], services["b"]
    for changed in ({"topic2": a.topic1}, {"topic1": b.topic1}, {"group": b.group}):
        asked = replace(a, host="service-a-0", **changed)
        sentence = (
            f"; service-a-0 must write {asked.topic1}, read {asked.topic2} and join {asked.group}: "
            "grant this to its program in the producer's root"
        )
        with pytest.raises(TopicForbiddenError, match=f"{re.escape(sentence)}$"):
            program.run(asked, Event())


def test_a_tombstone_and_other_bytes_do_not_end_a_service(
    program: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "service")
    settings, stop, consumer = Mock(host="service-a-0", seconds=60), Event(), Mock()
    consumer.poll.return_value = [Mock(value=value) for value in (None, b"\xff", "é".encode())]
    consumer.commit.side_effect = stop.set

    program.read(consumer, settings, stop)

    start = "service-a-0 received message: "
    assert caplog.messages == [f"{start}{text}" for text in ("", "\\xff", "é")]


def _received(caplog: pytest.LogCaptureFixture) -> Counter[str]:
    """Count the messages that any service has received, by the log."""
    # Those of kafka-python name connections, which may close while their line is made.
    records = [each for each in list(caplog.records) if not each.name.startswith("kafka.")]
    lines = [each.getMessage() for each in records]
    return Messages.count({"all": lines}).received


def _read_left(settings: Any) -> list[str]:
    """Read what the group of a service has not committed."""
    kafka, topic, group = settings.kafka, settings.topic2, settings.group
    with at_last(lambda: open_consumer(kafka, topic, group_id=group)) as consumer:
        return [record.value.decode() for record in read_to_end(consumer)]
