"""Two services that write to each other, each with a user of its own that is rotated meanwhile."""

from __future__ import annotations

import importlib.util
import logging
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import patch

import pytest

from localcloud.testing import wait_until
from penstock.errors import TopicForbiddenError
from penstock.kafka import Reader, Security, apply_readers, open_consumer
from tests.fixtures.brokers import PRODUCER, Brokers, at_last, logged_in, read_to_end

pytestmark = pytest.mark.kafka

_PROGRAM = Path(__file__).parents[2] / "examples" / "services" / "service.py"
_WRITTEN = re.compile(r"writing 1 messages to [\w.-]+ \(partition: \d\)")
_RECEIVED = re.compile(r"(service-[ab]-\d) received message: (This is message \d+ from host \S+)")
_MESSAGES = 60


@pytest.fixture(scope="module")
def program() -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("service", _PROGRAM)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with patch.dict(sys.modules, service=module):
        spec.loader.exec_module(module)
        yield module


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


@pytest.fixture
def rotate(brokers: Brokers, keep_secret: Callable[..., str], name: str) -> Callable[[], None]:
    """Give each service its other user, as infra/modules/broker-cluster does."""

    def change() -> None:
        for letter in "ab":
            brokers.set_user(f"{name}_{letter}_b", "2")
            keep_secret(f"{name}_{letter}_b", "2", f"{name}_{letter}")

    return change


def test_services_lose_no_message_while_their_users_are_rotated(
    services: dict[str, Any],
    rotate: Callable[[], None],
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
    with ThreadPoolExecutor(max_workers=6) as pool:
        running = {each.host: pool.submit(program.run, each, stop) for each in six}
        try:
            wait_until("messages flow", lambda: len(_received(caplog)) > _MESSAGES, 120)
            rotate()
            newcomer = replace(six[0], host="service-a-3")
            running[newcomer.host] = pool.submit(program.run, newcomer, stop)
            before = len(_received(caplog))
            wait_until("they flow on", lambda: len(_received(caplog)) > before + _MESSAGES, 120)
        finally:
            stop.set()
        written = {host: done.result() for host, done in running.items()}

    lines = [record.message for record in caplog.records if record.name == "service"]
    assert all(_WRITTEN.fullmatch(line) or _RECEIVED.fullmatch(line) for line in lines), lines
    left = [text for each in services.values() for text in _read_left(each)]
    messages = Counter([*(text for _, text in _received(caplog)), *left])
    sent = {
        f"This is message {number} from host {host}"
        for host, count in written.items()
        for number in range(1, count + 1)
    }
    assert sent - messages.keys() == set()


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


def _received(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Return who received what, by the log."""
    found = (_RECEIVED.fullmatch(record.getMessage()) for record in list(caplog.records))
    return [(match[1], match[2]) for match in found if match]


def _read_left(settings: Any) -> list[str]:
    """Read what the group of a service has not committed."""
    kafka, topic, group = settings.kafka, settings.topic2, settings.group
    with at_last(lambda: open_consumer(kafka, topic, group_id=group)) as consumer:
        return [record.value.decode() for record in read_to_end(consumer)]
