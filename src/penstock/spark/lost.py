"""Records that Kafka deleted before they were read: exactly which."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_Offsets = Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True, order=True)
class OffsetRange:
    """Offsets of one partition, the end not among them."""

    topic: str
    partition: int
    start: int
    end: int

    def __len__(self) -> int:
        """Count the offsets."""
        return self.end - self.start

    def __str__(self) -> str:
        """Name them as people do, with the last one."""
        return f"{self.topic}/{self.partition} {self.start} to {self.end - 1}"


def parse_offsets(text: str) -> dict[tuple[str, int], int]:
    """Read the offsets that Spark writes of a Kafka source: by topic and partition the next one."""
    topics = json.loads(text)
    return {
        (topic, int(partition)): offset
        for topic, partitions in topics.items()
        for partition, offset in partitions.items()
    }


def planned_ranges(starts: _Offsets, ends: _Offsets) -> list[OffsetRange]:
    """List what a batch is to read; partitions that came since the batch before begin at 0."""
    ranges = (
        OffsetRange(topic, partition, starts.get((topic, partition), 0), end)
        for (topic, partition), end in ends.items()
    )
    return sorted(found for found in ranges if found.end > found.start)


def lost_ranges(
    planned: Iterable[OffsetRange], firsts: _Offsets, earliest: _Offsets
) -> list[OffsetRange]:
    """Find what is no longer there.

    Args:
        planned: what a batch was to read.
        firsts: the first offset that each partition did give; none where it gave nothing.
        earliest: the first offset that Kafka has. Gaps behind it are no loss: compaction and
            aborted transactions make them.
    """
    lost = []
    for found in planned:
        place = (found.topic, found.partition)
        end = min(found.end, firsts.get(place, found.end), earliest.get(place, found.end))
        if end > found.start:
            lost.append(OffsetRange(found.topic, found.partition, found.start, end))
    return lost
