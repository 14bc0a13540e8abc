"""Detect records that Kafka deleted before a batch read them, and name their offsets."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import SparkSession

from penstock.errors import LostRecordsError
from penstock.spark.settings.consume import LostOffsets

_LOG = logging.getLogger(__name__)
_MOST_NAMED = 10
_REMOVED: Final = "penstock.spark.source.RemovedOffsets"
_Offsets = Mapping[tuple[str, int], int]


class LossWatch:
    """Checks a written batch for lost records; while none is missing it only compares counts."""

    def __init__(self, policy: LostOffsets) -> None:
        self._policy = policy

    def check(
        self, spark: SparkSession, batch: int, planned: Sequence[OffsetRange], found: int
    ) -> tuple[OffsetRange, ...]:
        """Compare the number of records found with the number that was planned.

        Returns:
            The lost ranges; empty if compaction or aborted transactions removed what is missing.

        Raises:
            LostRecordsError: records are lost, and the policy is to stop. The records found are
                written; the next start stops again at this batch, unless the policy is `go-on`.
        """
        if found >= sum(map(len, planned)):
            return ()
        lost = tuple(lost_ranges(planned, take_removed(spark, planned)))
        if lost:
            sentence = _describe_losses(batch, lost)
            if self._policy is LostOffsets.STOP:
                raise LostRecordsError(
                    f"{sentence}; start with --on-lost-offsets go-on to read on without them"
                )
            _LOG.warning("%s", sentence)
        return lost


def _describe_losses(batch: int, lost: Sequence[OffsetRange]) -> str:
    return (
        f"batch {batch} found {sum(map(len, lost))} records deleted that were not read, expected "
        f"all that the topics were given: {list_ranges(lost)}"
    )


def list_ranges(ranges: Sequence[OffsetRange]) -> str:
    """Return the first ranges as text, and how many more there are."""
    more = f" and {len(ranges) - _MOST_NAMED} more ranges" if len(ranges) > _MOST_NAMED else ""
    return ", ".join(map(str, ranges[:_MOST_NAMED])) + more


@dataclass(frozen=True, slots=True, order=True)
class OffsetRange:
    """A range of offsets in one partition; `end` is exclusive."""

    topic: str
    partition: int
    start: int
    end: int

    def __len__(self) -> int:
        """Return the number of offsets."""
        return self.end - self.start

    def __str__(self) -> str:
        """Return the range for messages, with its last offset."""
        return f"{self.topic}/{self.partition} {self.start} to {self.end - 1}"


def parse_offsets(text: str) -> dict[tuple[str, int], int]:
    """Return the next offset by topic and partition, from Spark's text for a Kafka source."""
    topics = json.loads(text)
    return {
        (topic, int(partition)): offset
        for topic, partitions in topics.items()
        for partition, offset in partitions.items()
    }


def planned_ranges(starts: _Offsets, ends: _Offsets) -> list[OffsetRange]:
    """Return the ranges that a batch is to read; partitions that are new to it start at 0."""
    ranges = (
        OffsetRange(topic, partition, starts.get((topic, partition), 0), end)
        for (topic, partition), end in ends.items()
    )
    return sorted(found for found in ranges if found.end > found.start)


def take_removed(spark: SparkSession, planned: Iterable[OffsetRange]) -> list[OffsetRange]:
    """Return the ranges that readers of these partitions found removed since the last call."""
    jvm: Any = spark._jvm
    places = {f"{each.topic} {each.partition}" for each in planned}
    lines = getattr(jvm, _REMOVED).take("\n".join(places)).splitlines()
    return [OffsetRange(topic, *map(int, at)) for topic, *at in map(str.split, lines)]


def lost_ranges(
    planned: Iterable[OffsetRange], removed: Iterable[OffsetRange]
) -> list[OffsetRange]:
    """Return what a batch was to read and was removed, each offset once.

    Other gaps are not losses: compaction and aborted transactions cause them.
    """
    gone = defaultdict(list)
    for each in sorted(removed):
        gone[each.topic, each.partition].append(each)
    lost = []
    for each in planned:
        start = each.start
        for found in gone[each.topic, each.partition]:
            start, end = max(start, found.start), min(each.end, found.end)
            if end > start:
                lost.append(OffsetRange(each.topic, each.partition, start, end))
                start = end
    return lost
