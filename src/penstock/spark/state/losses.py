"""Detect records that Kafka deleted before a batch read them, and name their offsets."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.errors import LostRecordsError
from penstock.kafka import KafkaSettings, open_consumer
from penstock.spark.settings.consume import LostOffsets

_LOG = logging.getLogger(__name__)
_MOST_NAMED = 10
_Offsets = Mapping[tuple[str, int], int]


class LossWatch:
    """Checks a written batch for lost records; while none is missing it only compares counts."""

    def __init__(self, kafka: KafkaSettings, policy: LostOffsets) -> None:
        self._kafka = kafka
        self._policy = policy

    def check(
        self, records: DataFrame, batch: int, planned: Sequence[OffsetRange], found: int
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
        lost = tuple(self._find_lost(records, planned))
        if lost:
            sentence = _describe_losses(batch, lost)
            if self._policy is LostOffsets.STOP:
                raise LostRecordsError(
                    f"{sentence}; start with --on-lost-offsets go-on to read on without them"
                )
            _LOG.warning("%s", sentence)
        return lost

    def _find_lost(self, records: DataFrame, planned: Sequence[OffsetRange]) -> list[OffsetRange]:
        with closing(open_consumer(self._kafka)) as consumer:
            earliest = consumer.find_earliest((each.topic, each.partition) for each in planned)
        if not lost_ranges(planned, {}, earliest):
            return []  # gaps alone need no pass over the records
        first = F.min("offset").alias("first")
        rows = records.groupBy("topic", "partition").agg(first).collect()
        firsts = {(row["topic"], row["partition"]): row["first"] for row in rows}
        return lost_ranges(planned, firsts, earliest)


def _describe_losses(batch: int, lost: tuple[OffsetRange, ...]) -> str:
    named = ", ".join(map(str, lost[:_MOST_NAMED]))
    more = f" and {len(lost) - _MOST_NAMED} more ranges" if len(lost) > _MOST_NAMED else ""
    return (
        f"batch {batch} found {sum(map(len, lost))} records deleted that were not read, expected "
        f"all that the topics were given: {named}{more}"
    )


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


def lost_ranges(
    planned: Iterable[OffsetRange], firsts: _Offsets, earliest: _Offsets
) -> list[OffsetRange]:
    """Return the ranges that no longer exist.

    Args:
        planned: the ranges that a batch was to read.
        firsts: the first offset found in each partition; missing if nothing was found.
        earliest: the first offset that Kafka has. Gaps after it are not losses: compaction and
            aborted transactions cause them.
    """
    lost = []
    for found in planned:
        place = (found.topic, found.partition)
        end = min(found.end, firsts.get(place, found.end), earliest.get(place, found.end))
        if end > found.start:
            lost.append(OffsetRange(found.topic, found.partition, found.start, end))
    return lost
