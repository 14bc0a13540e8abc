"""Reading, for tools and tests, and looking what is there; Lambdas and Spark read by their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kafka import KafkaConsumer, TopicPartition

from penstock.kafka._closing import Closing
from penstock.kafka._failures import translated_kafka_errors
from penstock.kafka._mechanism import client_options
from penstock.kafka._probe import PROBE_SECONDS
from penstock.kafka.access import check_access
from penstock.kafka.settings import KafkaSettings

_LOOK_MS = 15_000


def open_consumer(settings: KafkaSettings, *topics: str, group_id: str | None = None) -> Consumer:
    """Connect, log in and subscribe; without a group all partitions are read from their start.

    Raises:
        TopicNotFoundError, TopicForbiddenError: a topic does not exist, or not for us.
        BrokerError: of the kind that says why no broker can be used.
    """
    options = client_options(settings)
    check_access(options, topics)
    with translated_kafka_errors("the consumer cannot start"):
        client = KafkaConsumer(
            *topics,
            **options,
            group_id=group_id,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            allow_auto_create_topics=False,
            bootstrap_timeout_ms=int(PROBE_SECONDS * 1000),
        )
    return Consumer(client, topics)


class Consumer(Closing):
    """Reads records in the order of their partitions; positions move only by `commit`."""

    def __init__(self, client: KafkaConsumer, topics: Sequence[str]) -> None:
        """Take over a connected client; `open_consumer` makes one."""
        self._client = client
        self._where = f"reading {', '.join(topics)}"

    def poll(self, timeout_seconds: float = 1.0) -> list[Any]:
        """Return the next records: kafka-python's, with topic, partition, offset, key and value.

        Raises:
            TopicForbiddenError: the principal may not read the topic or use the group.
        """
        with translated_kafka_errors(self._where):
            batches = self._client.poll(timeout_ms=int(timeout_seconds * 1000))
        return [record for batch in batches.values() for record in batch]

    def find_earliest(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Find the first offset that each partition still has; those that are gone are left out."""
        with translated_kafka_errors(self._where):
            there = [
                TopicPartition(topic, partition)
                for topic, partition in places
                if partition in (self._client.partitions_for_topic(topic) or ())
            ]
            found = self._client.beginning_offsets(there, _LOOK_MS) if there else {}
        return {(place.topic, place.partition): offset for place, offset in found.items()}

    def commit(self) -> None:
        """Keep for the group that all polled records are done."""
        with translated_kafka_errors(self._where):
            self._client.commit()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
