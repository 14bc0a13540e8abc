"""Notices when Kafka has deleted records before a batch read them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import closing

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.errors import LostRecordsError
from penstock.kafka import KafkaSettings, open_consumer
from penstock.spark.lost import OffsetRange, lost_ranges
from penstock.spark.settings import LostOffsets

_LOG = logging.getLogger(__name__)
_MOST_NAMED = 10


class LossWatch:
    """Looks at a batch that was written: nothing more than a count, while nothing is missing."""

    def __init__(self, kafka: KafkaSettings, policy: LostOffsets) -> None:
        """Keep where to look, and what to do about it."""
        self._kafka = kafka
        self._policy = policy

    def check(
        self, records: DataFrame, batch: int, planned: Sequence[OffsetRange], found: int
    ) -> tuple[OffsetRange, ...]:
        """Compare the number of records found with what the batch was to read.

        Returns:
            What is lost; empty where compaction or aborted transactions took what is missing.

        Raises:
            LostRecordsError: something is, and the job is to stop. What was there is written; the
                next start stops again at this batch, unless it is told to go on.
        """
        if found >= sum(map(len, planned)):
            return ()
        lost = tuple(self._find(records, planned))
        if lost:
            sentence = _describe(batch, lost)
            if self._policy is LostOffsets.STOP:
                raise LostRecordsError(
                    f"{sentence}; start with --on-lost-offsets go-on to read on without them"
                )
            _LOG.warning("%s", sentence)
        return lost

    def _find(self, records: DataFrame, planned: Sequence[OffsetRange]) -> list[OffsetRange]:
        first = F.min("offset").alias("first")
        rows = records.groupBy("topic", "partition").agg(first).collect()
        firsts = {(row["topic"], row["partition"]): row["first"] for row in rows}
        with closing(open_consumer(self._kafka)) as consumer:
            earliest = consumer.find_earliest((each.topic, each.partition) for each in planned)
        return lost_ranges(planned, firsts, earliest)


def _describe(batch: int, lost: tuple[OffsetRange, ...]) -> str:
    named = ", ".join(map(str, lost[:_MOST_NAMED]))
    more = f" and {len(lost) - _MOST_NAMED} more ranges" if len(lost) > _MOST_NAMED else ""
    return (
        f"batch {batch} found {sum(map(len, lost))} records deleted that were not read, expected "
        f"all that the topics were given: {named}{more}"
    )
