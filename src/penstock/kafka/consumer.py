"""A consumer for tools, tests and look-ups of offsets; Lambda and Spark bring their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.coordinator.base import MemberState

from penstock.errors import BrokerUnavailableError
from penstock.kafka._client import connect
from penstock.kafka._failures import translated_kafka_errors
from penstock.kafka.settings import KafkaSettings

_LOOK_MS = 15_000
_JOIN_SECONDS = 360.0  # longer than a rebalance waits for members, 300 s (max_poll_interval_ms)


def open_consumer(settings: KafkaSettings, *topics: str, group_id: str | None = None) -> Consumer:
    """Return a consumer that is logged in and subscribed.

    Without a consumer group it reads all partitions from the start; without topics it only
    looks up offsets.

    Raises:
        TopicNotFoundError, TopicForbiddenError: a topic does not exist, or may not be used.
        BrokerError: no broker can be used; the subclass says why.
    """
    client = connect(settings, topics, group_id=group_id)
    if topics:
        with translated_kafka_errors("the consumer cannot start"):
            client.subscribe(topics)
    return Consumer(client, topics)


class Consumer(AbstractContextManager["Consumer"]):
    """A connected consumer, made by `open_consumer`; only `commit` moves the group's offsets."""

    def __init__(self, client: KafkaConsumer, topics: Sequence[str]) -> None:
        self._client = client
        self._where = f"reading {', '.join(topics)}"
        self._outside_since: float | None = None

    def poll(self, timeout_seconds: float = 1.0) -> list[Any]:
        """Return the next records as kafka-python's objects, in order within each partition.

        Raises:
            TopicForbiddenError: the principal may not read the topic or use the consumer group.
            BrokerUnavailableError: the group could not be joined for six minutes. Open another
                consumer: kafka-python waits without end for a broker that takes a connection and
                does not answer.
        """
        with translated_kafka_errors(self._where):
            batches = self._client.poll(timeout_ms=int(timeout_seconds * 1000))
        member = self._client.group_metadata()
        if member.group_id is None or member.state == MemberState.STABLE:
            self._outside_since = None
        elif self._outside_since is None:
            self._outside_since = time.monotonic()
        elif (waited := time.monotonic() - self._outside_since) > _JOIN_SECONDS:
            raise BrokerUnavailableError(
                f"{self._where}: found no way into the group {member.group_id} for {waited:.0f} s"
            )
        return [record for batch in batches.values() for record in batch]

    def find_earliest(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Return the first offset of each partition; missing partitions are left out."""
        with translated_kafka_errors(self._where):
            there = [
                TopicPartition(topic, partition)
                for topic, partition in places
                if partition in (self._client.partitions_for_topic(topic) or ())
            ]
            found = self._client.beginning_offsets(there, _LOOK_MS) if there else {}
        return {(place.topic, place.partition): offset for place, offset in found.items()}

    def find_partitions(self, matches: Callable[[str], bool]) -> dict[str, set[int]]:
        """Return the partitions of the topics that exist, that we may see, and that `matches`."""
        with translated_kafka_errors(self._where):
            return {
                topic: set(self._client.partitions_for_topic(topic) or ())
                for topic in self._client.topics()
                if matches(topic)
            }

    def commit(self) -> None:
        """Commit the offsets of all polled records for the consumer group."""
        with translated_kafka_errors(self._where):
            self._client.commit()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()
