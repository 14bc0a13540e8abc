"""Brokers killed with -9: nothing acknowledged is lost."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from threading import Event, Thread
from unittest.mock import patch

import pytest
from kafka.producer.sender import SenderMetrics

from localcloud.testing import wait_until
from penstock.errors import BrokerError, BrokerUnavailableError, DeliveryError
from penstock.kafka import (
    Delivery,
    KafkaSettings,
    Message,
    Producer,
    Security,
    Topic,
    ensure_topic,
    open_consumer,
    open_producer,
)
from systems.clusters import (
    PATIENCE_SECONDS,
    PRODUCER,
    Brokers,
    at_last,
    logged_in,
    read_to_end,
    running_brokers,
)
from systems.trials import Trials

pytestmark = pytest.mark.kafka

_BATCH = 20
_DEAD_SECONDS = 2.5  # of a broker that says nothing


@pytest.fixture(scope="module")
def mortal_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    with running_brokers(tmp_path_factory.mktemp("mortal")) as running:
        yield running


class _Sender(Thread):
    """Sends numbers until told to stop, and remembers where each was acknowledged."""

    def __init__(self, producer: Producer, topic: str) -> None:
        super().__init__()
        self._producer = producer
        self._topic = topic
        self._stopped = Event()
        self.sent = 0
        self.delivered: dict[bytes, Delivery] = {}
        self.failed: list[BrokerError] = []

    def run(self) -> None:
        while not self._stopped.is_set():
            numbers = range(self.sent, self.sent + _BATCH)
            messages = [Message(self._topic, b"%d" % n, key=b"%d" % n) for n in numbers]
            self.sent += _BATCH
            for message, outcome in zip(messages, self._producer.send_all(messages), strict=True):
                if isinstance(outcome, Delivery):
                    self.delivered[message.value] = outcome
                else:
                    self.failed.append(outcome)

    def wait_for(self, more: int) -> None:
        """Wait until so many more were sent: a call that the kill held up is over then."""
        until = self.sent + more
        wait_until(f"{more} more were sent", lambda: self.sent >= until, 2 * PATIENCE_SECONDS)

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def _leader(brokers: Brokers, topic: str) -> int:
    with closing(brokers.cluster.open_admin()) as admin:
        (found,) = admin.describe_topics([topic])
    return int(found["partitions"][0]["leader_id"])


def _read_all(brokers: Brokers, topic: str) -> list[tuple[bytes, int, int]]:
    with at_last(lambda: open_consumer(brokers.settings(Security.IAM), topic)) as consumer:
        records = read_to_end(consumer)
    return [(record.value, record.partition, record.offset) for record in records]


@contextmanager
def _held_up(brokers: Brokers, *broker_ids: int) -> Iterator[None]:
    """Stop processes without ending them; they count as dead after `_DEAD_SECONDS`."""
    for broker_id in broker_ids:
        os.kill(brokers.cluster.pids[broker_id], signal.SIGSTOP)
    try:
        yield
    finally:
        for broker_id in broker_ids:
            os.kill(brokers.cluster.pids[broker_id], signal.SIGCONT)


def test_the_leader_is_killed_under_a_producer(
    mortal_brokers: Brokers,
    seeded: random.Random,
    trials: Callable[[int, int], int],
    fault: Callable[[str], Trials],
) -> None:
    cluster, kills = mortal_brokers.cluster, fault("leader-killed")
    for _ in range(trials(1, 10)):
        topic = mortal_brokers.create_topic(partitions=1)
        settings = mortal_brokers.settings(Security.IAM)
        # A busy machine takes longer than ten seconds to choose another leader.
        with (
            logged_in(mortal_brokers, PRODUCER),
            open_producer(settings, deadline_seconds=60.0) as producer,
        ):
            sender = _Sender(producer, topic)
            sender.start()
            sender.wait_for(10 * _BATCH)
            victim = _leader(mortal_brokers, topic)
            # What the leader takes in now goes down with it.
            with _held_up(mortal_brokers, *set(cluster.broker_ids) - {victim}):
                time.sleep(seeded.uniform(0.1, 0.5))
                pid = cluster.pids[victim]
                cluster.kill(victim)
            with kills.recovery():
                time.sleep(seeded.uniform(0.0, 3.0))
                cluster.restart(victim)
                sender.wait_for(10 * _BATCH)
            sender.stop()
            kills.count(1, fired=int(cluster.pids[victim] != pid))
            read = _read_all(mortal_brokers, topic)

        assert sender.failed == []
        assert len(sender.delivered) == sender.sent
        # Exactly what was acknowledged, where it was acknowledged, once.
        kills.check(
            [(value, place) for value, *place in read],
            {value: [each.partition, each.offset] for value, each in sender.delivered.items()},
        )


def test_a_leader_that_hangs_takes_a_record_once(
    mortal_brokers: Brokers, fault: Callable[[str], Trials]
) -> None:
    hangs = fault("leader-hangs")
    # On a machine that is too busy for a leader to answer in time, a send may take longer.
    with logged_in(mortal_brokers, PRODUCER):
        assert any(_takes_once(mortal_brokers, seconds, hangs) for seconds in (10, 30, 90))


def _takes_once(brokers: Brokers, seconds: int, hangs: Trials) -> bool:
    """Hold a leader up under a send; return whether it was sent again, and acknowledged in time."""
    topic = brokers.create_topic(partitions=1)
    settings = brokers.settings(Security.IAM)
    with (
        ThreadPoolExecutor(1) as pool,
        at_last(lambda: open_producer(settings, deadline_seconds=float(seconds))) as producer,
    ):
        first = at_last(lambda: producer.send(topic, b"first"))
        with patch.object(SenderMetrics, "record_retries") as retries:
            with _held_up(brokers, _leader(brokers, topic)):
                sending = pool.submit(producer.send, topic, b"once")
                # A request that takes longer than half the deadline is sent again.
                time.sleep(seconds / 2 + 0.5)
            try:
                once = sending.result()
            except DeliveryError:
                return False
    if not retries.called:
        return False
    read = _read_all(brokers, topic)

    hangs.count(1, fired=retries.call_count)
    hangs.check(
        [(value, offset) for value, _, offset in read if value in {b"first", b"once"}],
        {b"first": first.offset, b"once": once.offset},
    )
    assert read[-1] == (b"once", 0, once.offset)
    return True


def test_a_send_ends_within_its_deadline_though_no_broker_answers(mortal_brokers: Brokers) -> None:
    topic = mortal_brokers.create_topic(partitions=1)
    settings = mortal_brokers.settings(Security.IAM)
    messages = [Message(topic, b"x")] * 5

    with logged_in(mortal_brokers, PRODUCER):
        with at_last(lambda: open_producer(settings, deadline_seconds=2.0)) as producer:
            at_last(lambda: producer.connect([topic]))
            # Both end before the brokers are back; without a deadline, each would take minutes.
            with ThreadPoolExecutor(1) as pool, _held_up(mortal_brokers, 1, 2, 3):
                outcomes = pool.submit(producer.send_all, messages).result(PATIENCE_SECONDS)
                with pytest.raises(BrokerUnavailableError, match="does not answer in time"):
                    pool.submit(producer.send, topic, b"x").result(PATIENCE_SECONDS)
            # Brokers that were held up have to find each other again first.
            assert at_last(lambda: producer.send(topic, b"x"))

    assert [type(outcome) for outcome in outcomes] == [DeliveryError] * 5
    assert str(outcomes[4]).startswith(
        f"a record for topic '{topic}' was not acknowledged within 2 s: "
    )


def test_a_topic_is_not_called_usable_before_the_last_broker_knows_it(
    mortal_brokers: Brokers,
) -> None:
    cluster = mortal_brokers.cluster
    settings = mortal_brokers.settings(
        Security.IAM, bootstrap_servers=(f"{cluster.spec.name(1)}:9098",)
    )

    with logged_in(mortal_brokers, PRODUCER), ThreadPoolExecutor(4) as pool:
        # Where the machine is so busy that broker 3 counts as dead by then, nothing is learned.
        assert any(_is_awaited(mortal_brokers, settings, pool, trial) for trial in range(5))


def _is_awaited(
    brokers: Brokers, settings: KafkaSettings, pool: ThreadPoolExecutor, trial: int
) -> bool:
    """Return whether broker 3 was held up for so short that no topic was usable without it."""
    began = time.monotonic()
    with _held_up(brokers, 3):
        # Several, since kafka-python may have chosen broker 3 itself to pass a creation on.
        topics = [Topic(f"slowly-{trial}-{number}") for number in range(4)]
        ensured = [pool.submit(ensure_topic, settings, topic) for topic in topics]
        done = wait(ensured, timeout=1.5).done
        is_short = time.monotonic() - began < _DEAD_SECONDS
    assert [future.result() for future in ensured] == [True] * 4
    assert not (is_short and done)
    return is_short
