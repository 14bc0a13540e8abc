"""Notices topics that were deleted, or deleted and created anew, under a checkpoint.

Spark knows a topic by its name. One that was created anew begins at offset 0 again, and Spark would
go on at the offset that it had come to in the old one, or where the new one ends by then.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from penstock.errors import CheckpointError, LostRecordsError
from penstock.kafka import TopicIds
from penstock.spark._advice import WHAT_TO_DO
from penstock.spark.checkpoint import Checkpoint
from penstock.spark.lost import OffsetRange
from penstock.spark.settings import LostOffsets
from penstock.spark.state_files import StateFiles

_LOG = logging.getLogger(__name__)


class TopicWatch:
    """Looks at each batch before it is taken; topics' ids are kept beside the checkpoint.

    Each change makes a file there, `NUMBER.json`, with the ids of all topics by their names.
    """

    def __init__(
        self, ids: TopicIds, checkpoint: Checkpoint, files: StateFiles, policy: LostOffsets
    ) -> None:
        """Read what is known, and keep what to do about a change."""
        self._ids = ids
        self._checkpoint = checkpoint
        self._files = files
        self._policy = policy
        names = files.names()
        self._count = len(names)
        self._known = self._read(names[-1]) if names else {}
        self._found: dict[str, str] = {}

    def check(self, batch: int) -> tuple[OffsetRange, ...]:
        """Compare the topics of a batch with those of the batches before.

        Returns:
            What a topic that was created anew has and this query does not read.

        Raises:
            LostRecordsError: a topic is another or not there, and the job is to stop. Nothing of
                the batch is written, and the next start stops likewise.
        """
        starts, ends = self._checkpoint.starts(batch), self._checkpoint.ends(batch)
        found = self._ids.find(sorted({topic for topic, _ in ends}))
        anew = {topic for topic in found if self._known.get(topic, found[topic]) != found[topic]}
        self._found = self._known | found
        problems = _describe(anew, starts, ends)
        skipped = tuple(
            OffsetRange(topic, partition, 0, min(start, ends[topic, partition]))
            for (topic, partition), start in sorted(starts.items())
            if topic in anew and min(start, ends.get((topic, partition), 0))
        )
        if not problems:
            return ()
        if skipped:
            problems.append(f"{', '.join(map(str, skipped))} of the new would not be read")
        sentence = f"before batch {batch} topics changed: {'; '.join(problems)}"
        if self._policy is LostOffsets.STOP:
            raise LostRecordsError(
                f"{sentence}. Begin with a new checkpoint and --starting at the time of the last "
                "batch to read all that there is, or start with --on-lost-offsets go-on to go on"
            )
        _LOG.warning("%s", sentence)
        return skipped

    def remember(self) -> None:
        """Keep what was found, once the batch is done: until then it is told again."""
        if self._found != self._known:
            self._count += 1
            self._files.write(f"{self._count:020d}.json", json.dumps(self._found))
            self._known = self._found

    def _read(self, name: str) -> dict[str, str]:
        try:
            return dict(json.loads(self._files.read(name) or ""))
        except (ValueError, TypeError) as error:
            raise CheckpointError(
                f"the file {self._files.locate(name)} is damaged ({error}), expected the ids of "
                f"topics; {WHAT_TO_DO}"
            ) from error


def _describe(
    anew: set[str], starts: Mapping[tuple[str, int], int], ends: Mapping[tuple[str, int], int]
) -> list[str]:
    problems = [
        f"{topic} was deleted and created anew, and what the old one had from "
        f"{_list_starts(topic, starts)} on is gone"
        for topic in sorted(anew)
    ]
    for (topic, partition), start in sorted(starts.items()):
        end = ends.get((topic, partition))
        if topic in anew or (end is not None and end >= start):
            continue
        there = "is not there" if end is None else f"ends at offset {end}"
        problems.append(f"{topic}/{partition} {there}, and was read up to offset {start}")
    return problems


def _list_starts(topic: str, starts: Mapping[tuple[str, int], int]) -> str:
    return ", ".join(
        f"{name}/{partition} {start}"
        for (name, partition), start in sorted(starts.items())
        if name == topic
    )
