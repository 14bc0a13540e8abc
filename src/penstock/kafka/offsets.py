"""The records at given offsets, and the ends of partitions, without a consumer group."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka import KafkaConsumer, TopicPartition

from penstock.errors import BrokerUnavailableError
from penstock.kafka._client import connect
from penstock.kafka._failures import translated_kafka_errors
from penstock.kafka.settings import KafkaSettings

_LOOK_MS = 15_000
_POLL_MS = 500
_STALL_SECONDS = 30
# Limits for a partition. Each read is a request or more; offsets beyond count as records.
_MOST_READS = 1_000
_MOST_OFFSETS = 100_000
# Ranges that are so near to each other are read at once, up to so many offsets.
_NEAR = 100
_MOST_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class FoundOffsets:
    """The number of tombstones, the number of offsets without a record, and the other offsets.

    `unread` of the others were not looked up, as they were too many.
    """

    tombstones: int
    no_records: int
    rest: tuple[range, ...]
    unread: int = 0


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    """The first offset of a partition that is kept, and the one that its next record gets.

    `first_ms` is the timestamp of the first record that is kept and has one.
    """

    topic: str
    partition: int
    begin: int
    end: int
    first_ms: int | None


def read_offsets(
    settings: KafkaSettings, topics: Iterable[str] | None = None
) -> list[PartitionOffsets]:
    """Return the offsets of topics, or of all that the login may describe, by topic and partition.

    Topics of Kafka itself, such as `__consumer_offsets`, are left out unless they are named.

    Raises:
        TopicNotFoundError, TopicForbiddenError: a topic does not exist, or may not be read.
        BrokerError: no broker can be used; the subclass says why.
    """
    names = sorted(topics or ())
    client = connect(settings, names)
    with translated_kafka_errors("the offsets of topics cannot be read"):
        try:
            if topics is None:
                names = sorted(each for each in client.topics() if not each.startswith("__"))
            places = [
                TopicPartition(name, partition)
                for name in names
                for partition in sorted(client.partitions_for_topic(name) or ())
            ]
            begins = client.beginning_offsets(places, _LOOK_MS) if places else {}
            ends = client.end_offsets(places, _LOOK_MS) if places else {}
            times = client.offsets_for_times(dict.fromkeys(places, 0), _LOOK_MS) if places else {}
        finally:
            client.close()
    firsts = {place: found.timestamp for place, found in times.items() if found}
    return [
        PartitionOffsets(each.topic, each.partition, begins[each], ends[each], firsts.get(each))
        for each in places
    ]


def look_up_offsets(
    settings: KafkaSettings, ranges: Mapping[tuple[str, int], Sequence[range]]
) -> dict[tuple[str, int], FoundOffsets]:
    """Read the records at ranges of offsets, and tell tombstones and offsets without a record.

    Offsets that Kafka has deleted or has not given yet count as records, and so does what is beyond
    1,000 reads or 100,000 offsets of a partition. A read takes ranges that are near to each other.

    Raises:
        TopicNotFoundError, TopicForbiddenError: a topic does not exist, or may not be read.
        BrokerError: no broker can be used; the subclass says why.
    """
    client = connect(
        settings, sorted({topic for topic, _ in ranges}), isolation_level="read_committed"
    )
    with translated_kafka_errors("missing offsets cannot be read"):
        try:
            return {
                place: _look_up(client, TopicPartition(*place), own)
                for place, own in ranges.items()
            }
        finally:
            client.close()


def _look_up(client: KafkaConsumer, place: TopicPartition, ranges: Sequence[range]) -> FoundOffsets:
    if place.partition not in (client.partitions_for_topic(place.topic) or ()):
        return FoundOffsets(0, 0, tuple(ranges))
    client.assign([place])
    begin = client.beginning_offsets([place], _LOOK_MS)[place]
    end = client.end_offsets([place], _LOOK_MS)[place]
    tombstones = no_records = reads = read = unread = 0
    rest = [range(run.start, min(run.stop, begin)) for run in ranges]
    rest += [range(max(run.start, end), run.stop) for run in ranges]
    kept = (range(max(run.start, begin), min(run.stop, end)) for run in ranges)
    for runs in _join_near(run for run in kept if run):
        hull = range(runs[0].start, runs[-1].stop)
        if reads == _MOST_READS or read + len(hull) > _MOST_OFFSETS:
            rest += runs
            unread += sum(map(len, runs))
            continue
        reads, read = reads + 1, read + len(hull)
        is_empty = {each.offset: each.value is None for each in _read_run(client, place, hull)}
        found = [offset for run in runs for offset in run if offset in is_empty]
        tombstones += sum(is_empty[offset] for offset in found)
        no_records += sum(map(len, runs)) - len(found)
        rest += _join(offset for offset in found if not is_empty[offset])
    left = sorted((run for run in rest if run), key=lambda run: run.start)
    return FoundOffsets(tombstones, no_records, tuple(left), unread)


def _join_near(runs: Iterable[range]) -> Iterator[list[range]]:
    """Yield sorted runs together that one read takes."""
    near: list[range] = []
    for run in runs:
        is_far = near and run.start - near[-1].stop > _NEAR
        if is_far or (near and run.stop - near[0].start > _MOST_AT_ONCE):
            yield near
            near = []
        near.append(run)
    if near:
        yield near


def _read_run(client: KafkaConsumer, place: TopicPartition, run: range) -> Iterator[Any]:
    """Yield the records of a run of offsets before the end of a partition."""
    client.seek(place, run.start)
    position, deadline = run.start, time.monotonic() + _STALL_SECONDS
    while position < run.stop:
        for records in client.poll(timeout_ms=_POLL_MS).values():
            yield from (each for each in records if each.offset < run.stop)
        now = client.position(place)
        if now > position:
            position, deadline = now, time.monotonic() + _STALL_SECONDS
        elif time.monotonic() > deadline:
            raise BrokerUnavailableError(
                f"found no record of {place.topic}/{place.partition} for {_STALL_SECONDS} s, "
                f"expected those from {position}"
            )


def _join(offsets: Iterable[int]) -> Iterator[range]:
    """Yield sorted offsets as ranges."""
    run: range | None = None
    for offset in offsets:
        if run is not None and offset == run.stop:
            run = range(run.start, offset + 1)
            continue
        if run is not None:
            yield run
        run = range(offset, offset + 1)
    if run is not None:
        yield run
