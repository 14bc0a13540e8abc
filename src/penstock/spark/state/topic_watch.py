"""Detect topics that were deleted or recreated under a checkpoint.

Spark identifies a topic by its name. A recreated topic starts at offset 0 again, and Spark would
continue at the offset it had reached in the old topic, or at the end of the new one. If a topic is
deleted before its records are read, Spark waits for it, again at each start. A topic that is away
for a batch and comes back, Spark reads again from its first record. Where the first batch of a new
topic comes again, Spark begins with the first record that is there by then.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from penstock.errors import CheckpointError, LostRecordsError, TopicNotFoundError
from penstock.kafka import TopicIds
from penstock.spark.settings.consume import LostOffsets
from penstock.spark.state.checkpoint import Checkpoint
from penstock.spark.state.files import WHAT_TO_DO, StateFiles
from penstock.spark.state.losses import OffsetRange, list_ranges, planned_ranges

_LOG = logging.getLogger(__name__)
_Offsets = Mapping[tuple[str, int], int]
_UNKNOWN: Final = "UnknownTopicOrPartitionException"


@dataclass(frozen=True, slots=True)
class TopicChanges:
    """The changes of a batch's topics, found before it is read.

    Attributes:
        planned: offset ranges to read from topics that exist.
        replanned: whether these are not the ranges of Spark's batch, because a topic does not
            exist, is back and was read before, or is new and its first batch comes again.
        lost: ranges that cannot be read because their topic is gone, or that are skipped because
            their topic was recreated and they are below the checkpoint's offset.
        new: topics that no batch before had.
    """

    planned: tuple[OffsetRange, ...] = ()
    replanned: bool = False
    lost: tuple[OffsetRange, ...] = ()
    new: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Topics:
    """The topics of a query: their ids, and where it begins in partitions that Spark calls new.

    Those are away, or a batch with a new topic is not over.
    """

    ids: Mapping[str, str]
    left: _Offsets

    @classmethod
    def parse(cls, text: str) -> _Topics:
        """Return them from `{topic: id, "topic/partition": offset}`."""
        ids, left = {}, {}
        for name, value in dict(json.loads(text)).items():
            topic, _, partition = name.partition("/")  # no topic has one in its name
            if partition:
                left[topic, int(partition)] = int(value)
            else:
                ids[topic] = value
        return cls(ids, left)

    def __str__(self) -> str:
        left = {f"{topic}/{partition}": offset for (topic, partition), offset in self.left.items()}
        return json.dumps({**self.ids, **left})


class TopicWatch:
    """Checks the topics of each batch before it is taken, and keeps them beside the checkpoint.

    They are in a file there, `NUMBER.json`, which each change replaces: the ids of all topics by
    name, the next offset of each partition that is away, and the first of those that are new.
    `topics` are those that the job is told to read; if given, it may have lost access to others by
    now.
    """

    def __init__(
        self,
        ids: TopicIds,
        checkpoint: Checkpoint,
        files: StateFiles,
        policy: LostOffsets,
        topics: Sequence[str] = (),
    ) -> None:
        self._ids = ids
        self._checkpoint = checkpoint
        self._files = files
        self._policy = policy
        self._topics = topics
        last = files.read_last()
        self._known = _Topics({}, {}) if last is None else self._parse(*last)
        self._found = self._known

    def check(self, batch: int) -> TopicChanges:
        """Compare the topics of a batch with those of the batches before.

        Raises:
            LostRecordsError: a topic was recreated, shortened or deleted, and the policy is to
                stop. Nothing of the batch is written, and the next start stops again.
        """
        starts, ends = self._checkpoint.starts(batch), self._checkpoint.ends(batch)
        found, gone = self._find_topics(sorted({topic for topic, _ in ends}))
        ids = self._known.ids
        recreated = {topic for topic in found if ids.get(topic, found[topic]) != found[topic]}
        same = {topic for topic, _ in found.items() & ids.items()}
        begins = self._begin(batch, starts, ends, recreated)
        self._found = replace(self._found, ids={**ids, **found})
        planned = planned_ranges(begins, ends)
        unread = tuple(each for each in planned if each.topic in gone)
        ends = {place: end for place, end in ends.items() if place[0] not in gone}
        old = {place: at for place, at in self._known.left.items() if place[0] in recreated}
        problems = _describe_changes(recreated, old | starts, ends)
        skipped = tuple(
            OffsetRange(topic, partition, 0, min(start, ends[topic, partition]))
            for (topic, partition), start in sorted(starts.items())
            if topic in recreated and min(start, ends.get((topic, partition), 0))
        )
        if unread:
            problems.append(f"{list_ranges(unread)} cannot be read")
        if skipped:
            problems.append(f"{list_ranges(skipped)} of the new one would not be read")
        if problems:
            self._log_change(f"before batch {batch} topics changed: {'; '.join(problems)}")
        return TopicChanges(
            planned=tuple(each for each in planned if each.topic not in gone),
            replanned=bool(gone) or begins != starts,
            lost=(*unread, *skipped),
            new=frozenset({topic for topic, _ in ends} - {topic for topic, _ in begins} - same),
        )

    def begin(self, changes: TopicChanges, removed: Iterable[OffsetRange]) -> TopicChanges:
        """Begin new topics behind the records that were removed; return the changes with that.

        This is kept before they are read: what Kafka removes from now on is lost, also after a
        restart.
        """
        older = [each for each in sorted(removed) if each.start == 0]
        if older:
            _LOG.warning("%s were deleted before the job read these topics", list_ranges(older))
        first = {(each.topic, each.partition): each.end for each in older}
        left = {at: start for at, start in self._known.left.items() if at[0] not in changes.new}
        ids = {topic: id_ for topic, id_ in self._found.ids.items() if topic in changes.new}
        self._store(_Topics({**self._known.ids, **ids}, {**left, **first}))
        self._found = replace(self._found, left={**self._found.left, **first})
        planned = (
            replace(each, start=first.get((each.topic, each.partition), each.start))
            for each in changes.planned
        )
        return replace(changes, planned=tuple(each for each in planned if each))

    def _begin(
        self, batch: int, starts: _Offsets, ends: _Offsets, recreated: set[str]
    ) -> dict[tuple[str, int], int]:
        """Return where to begin: at the starts of Spark, or further on in what is back.

        A place stays known until Spark's starts have passed it: a batch may have a limit.
        """
        left = {
            place: start
            for place, start in self._known.left.items()
            if place[0] not in recreated and start > starts.get(place, 0)
        }
        back = {place: start for place, start in left.items() if place in ends}
        if back:
            _LOG.warning(
                "before batch %d partitions that Spark takes for new are read on from %s",
                batch,
                _list_offsets(back),
            )
        known = self._known.left
        away = {
            # 0 if its topic is dead, as long as the batch may come again with the new one known.
            place: 0 if place[0] in recreated or known.get(place) == 0 else left.get(place, start)
            for place, start in starts.items()
            if place not in ends
        }
        self._found = replace(self._found, left={**left, **away})
        return {**starts, **back}

    def _find_topics(self, topics: Sequence[str]) -> tuple[dict[str, str], set[str]]:
        """Return the ids of the topics that exist, and the names of the others."""
        optional = [topic for topic in topics if self._topics and topic not in self._topics]
        answers = self._ids.find(topics, optional)
        found = {topic: answer for topic, answer in answers.items() if answer is not None}
        return found, answers.keys() - found.keys()

    def _log_change(self, sentence: str) -> None:
        if self._policy is LostOffsets.STOP:
            raise LostRecordsError(
                f"{sentence}. Begin with a new checkpoint and --starting at offsets to read all "
                "that there is, or start with --on-lost-offsets go-on to go on"
            )
        _LOG.warning("%s", sentence)

    def remember(self) -> None:
        """Store the topics found, once the batch is done; until then changes are reported."""
        self._store(self._found)

    def _store(self, topics: _Topics) -> None:
        if topics != self._known:
            self._files.replace(str(topics))
            self._known = topics

    def _parse(self, name: str, text: str) -> _Topics:
        try:
            return _Topics.parse(text)
        except (ValueError, TypeError) as error:
            raise CheckpointError(
                f"the file {self._files.locate(name)} is damaged ({error}), expected the ids of "
                f"topics; {WHAT_TO_DO}"
            ) from error


def await_end(query: StreamingQuery, ids: TopicIds, topics: Sequence[str]) -> None:
    """Wait for the end of a query that reads these topics; `topics` is empty for a pattern.

    Raises:
        TopicNotFoundError: a topic does not exist; Spark's own error does not name it.
        StreamingQueryException: the query failed for another reason.
    """
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        answers = ids.find(topics) if _UNKNOWN in str(error) else {}
        if gone := [topic for topic, answer in answers.items() if answer is None]:
            raise TopicNotFoundError(
                f"found no topic {', '.join(sorted(gone))}, and Spark reads no others without "
                "it; create it, or take it out of --topics and start with --on-lost-offsets go-on"
            ) from error
        raise


def _describe_changes(recreated: set[str], starts: _Offsets, ends: _Offsets) -> list[str]:
    problems = [
        f"{topic} was deleted and recreated, and the records of the old one from "
        f"{_list_offsets({each: at for each, at in starts.items() if each[0] == topic})} on are "
        "lost"
        for topic in sorted(recreated)
    ]
    for (topic, partition), start in sorted(starts.items()):
        end = ends.get((topic, partition))
        if topic in recreated or (end is not None and end >= start):
            continue
        there = "is missing" if end is None else f"ends at offset {end}"
        problems.append(f"{topic}/{partition} {there}, and was read up to offset {start}")
    return problems


def _list_offsets(offsets: _Offsets) -> str:
    return ", ".join(
        f"{topic}/{partition} {offset}" for (topic, partition), offset in sorted(offsets.items())
    )
