"""The records of a topic from any place, without a consumer group."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from kafka import KafkaConsumer, TopicPartition

from penstock.errors import BrokerUnavailableError, OperationError
from penstock.kafka._client import connect
from penstock.kafka._failures import translated_kafka_errors
from penstock.kafka.settings import KafkaSettings

# A place in each partition: its first or last record, an offset, a number of records before its end
# if it is negative, or the first record since a time.
Start = Literal["beginning", "end"] | int | datetime

_LOOK_MS = 15_000
_POLL_MS = 500
_STALL_SECONDS = 30


def read_topic(
    settings: KafkaSettings,
    topic: str,
    start: Start = "beginning",
    *,
    partition: int | None = None,
    follow: bool = False,
) -> Iterator[Any]:
    """Yield the records of a topic as kafka-python's objects, in order within each partition.

    It ends after the last record that was there when it began, unless it follows the topic.
    Records of transactions that were aborted or are still open are left out.

    Raises:
        TopicNotFoundError, TopicForbiddenError: the topic does not exist, or may not be read.
        OperationError: there is no such partition, or no such offset in it.
        BrokerError: no broker can be used; the subclass says why.
    """
    client = connect(settings, [topic], isolation_level="read_committed")
    with translated_kafka_errors(f"reading {topic}"):
        try:
            places = _choose_partitions(client, topic, partition)
            client.assign(places)
            ends = client.end_offsets(places, _LOOK_MS)
            for place, offset in _find_offsets(client, places, start, ends).items():
                client.seek(place, offset)
            yield from _read_records(client, ends, follow)
        finally:
            client.close()


def _choose_partitions(
    client: KafkaConsumer, topic: str, partition: int | None
) -> list[TopicPartition]:
    known = sorted(client.partitions_for_topic(topic) or ())
    if partition is not None and partition not in known:
        raise OperationError(
            f"found partition {partition}, expected one of 0 to {len(known) - 1} of {topic}"
        )
    return [TopicPartition(topic, each) for each in known if partition in (None, each)]


def _find_offsets(
    client: KafkaConsumer,
    places: list[TopicPartition],
    start: Start,
    ends: dict[TopicPartition, int],
) -> dict[TopicPartition, int]:
    """Return the offset in each partition to begin with."""
    if start == "end":
        return ends
    if isinstance(start, datetime):
        moment = max(0, int(start.timestamp() * 1000))
        found = client.offsets_for_times(dict.fromkeys(places, moment))
        return {place: found[place].offset if found[place] else ends[place] for place in places}
    begins: dict[TopicPartition, int] = client.beginning_offsets(places, _LOOK_MS)
    if start == "beginning":
        return begins
    if start < 0:
        return {place: max(begins[place], ends[place] + start) for place in places}
    for place in places:
        if not begins[place] <= start <= ends[place]:
            raise OperationError(
                f"found offset {start}, expected one of {begins[place]} to {ends[place]} of "
                f"{place.topic}/{place.partition}"
            )
    return dict.fromkeys(places, start)


def _read_records(
    client: KafkaConsumer, ends: dict[TopicPartition, int], follow: bool
) -> Iterator[Any]:
    positions = {place: client.position(place) for place in ends}
    left = {place for place, end in ends.items() if positions[place] < end}
    deadline = time.monotonic() + _STALL_SECONDS
    while follow or left:
        for place, records in client.poll(timeout_ms=_POLL_MS).items():
            yield from (each for each in records if follow or each.offset < ends[place])
        # A position passes records of aborted transactions too, and the marker of the last one.
        now = {place: client.position(place) for place in ends}
        if now != positions:
            positions, deadline = now, time.monotonic() + _STALL_SECONDS
        left = {place for place in left if positions[place] < ends[place]}
        if not follow and left and time.monotonic() > deadline:
            names = ", ".join(f"{place.topic}/{place.partition}" for place in sorted(left))
            raise BrokerUnavailableError(
                f"found no record of {names} for {_STALL_SECONDS} s, expected those to the end"
            )
