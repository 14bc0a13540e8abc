"""Missing offsets, and what explains them: dead letters, parked records, and Kafka itself."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from penstock.aws import QueryRow
from penstock.extensions.quality._sql import Place
from penstock.extensions.quality.report import Gap, Partition
from penstock.extensions.quality.topics import TopicReader
from penstock.records import read_letter_id
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore, Selection


@dataclass(frozen=True, slots=True)
class Missing:
    """The first runs of missing offsets by partition, and how many offsets all its runs are."""

    gaps: dict[Place, tuple[range, ...]]
    counts: dict[Place, int]


def read_gaps(rows: Iterable[QueryRow]) -> Missing:
    """Return the missing offsets of an answer."""
    gaps: dict[Place, list[range]] = defaultdict(list)
    counts: dict[Place, int] = {}
    for row in rows:
        place = read_place(row)
        gaps[place].append(range(_number(row, "first_offset"), _number(row, "last_offset") + 1))
        counts[place] = _number(row, "missing")
    return Missing({place: tuple(found) for place, found in gaps.items()}, counts)


def read_place(row: QueryRow) -> Place:
    """Return the topic and partition of a row."""
    return str(row["topic"]), _number(row, "part")


def find_dead_letters(tables: Iterable[str]) -> dict[Place, set[int]]:
    """Return the offsets of the dead letters that are neither done nor parked.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: a table cannot be read.
    """
    found: dict[Place, set[int]] = defaultdict(set)
    for table in tables:
        ids = ErrorTable(DynamoDbClient(), table, ObjectStore("")).find(Selection())
        for row_id in chain.from_iterable(ids):
            source, _ = read_letter_id(row_id)
            found[source.topic, source.partition].add(source.offset)
    return found


def explain(
    partitions: Sequence[Partition],
    missing: Missing,
    dead: Mapping[Place, set[int]] | None,
    kafka: TopicReader | None,
) -> tuple[tuple[Partition, ...], tuple[Gap, ...]]:
    """Return the partitions with what explains their missing offsets, and what nothing does."""
    left = dict(missing.gaps)
    letters: dict[Place, int] = {}
    for place, gaps in missing.gaps.items():
        own = (dead or {}).get(place, set())
        left[place] = tuple(subtract(gaps, own))
        letters[place] = _size(gaps) - _size(left[place])
    looked = kafka.look_up(left) if kafka else {}
    left |= {place: found.rest for place, found in looked.items()}
    # Runs that the answer does not list stay unexplained.
    unlisted = {
        place: count - _size(missing.gaps[place]) for place, count in missing.counts.items()
    }
    return (
        tuple(
            replace(
                each,
                dead_letters=None if dead is None else letters.get(place, 0),
                tombstones=looked[place].tombstones if place in looked else None,
                no_records=looked[place].no_records if place in looked else None,
                unexplained=unlisted.get(place, 0) + _size(left.get(place, ())),
                unread=unlisted.get(place, 0) + (looked[place].unread if place in looked else 0),
            )
            for each in partitions
            for place in [(each.topic, each.partition)]
        ),
        tuple(
            Gap(topic, partition, gap.start, gap.stop - 1)
            for (topic, partition), gaps in sorted(left.items())
            for gap in gaps
        ),
    )


def subtract(gaps: Iterable[range], offsets: Iterable[int]) -> Iterator[range]:
    """Yield the sorted ranges without these offsets."""
    known = sorted(set(offsets))
    for gap in gaps:
        start = gap.start
        for offset in known[bisect_left(known, gap.start) : bisect_left(known, gap.stop)]:
            if start < offset:
                yield range(start, offset)
            start = offset + 1
        if start < gap.stop:
            yield range(start, gap.stop)


def _size(gaps: Iterable[range]) -> int:
    return sum(map(len, gaps))


def _number(row: QueryRow, name: str) -> int:
    return int(row[name] or 0)
