"""Batch markers in a table's own history: a batch that the table has is not written again.

Each append stores a marker of its batch in the summary of its snapshot. Snapshots expire, so each
writing query also has a record in the table's properties: its progress at a sequence number.
`jobs/maintain_lake.py` updates the records before it expires snapshots. If another tool expired
snapshots that a record does not cover, the table may or may not have the batch. Then writing stops
with an error.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, Self

from penstock.errors import LakeHistoryError

# Snapshots of these hours must not be expired.
LEAST_KEPT_HOURS: Final = 24
_QUERY: Final = "penstock.query"
_BATCH: Final = "penstock.batch"
_PART: Final = "penstock.part"
_OFFSETS: Final = "penstock.offsets-digest"
_DIGEST_SIZE: Final = 16
_START_EMPTY: Final = (
    "start again with an empty checkpoint and the offsets that follow what the table has"
)
_ALL_PARTS: Final = 1_000_000  # more than a batch has
# Iceberg's summary property with the WAP id of a staged snapshot, which it publishes once.
_PUBLISHED: Final = "published-wap-id"
MARKER_KEYS: Final = (_QUERY, _BATCH, _PART, _OFFSETS, _PUBLISHED)
_WAP: Final = "penstock.part/"
_WRITER: Final = "penstock.writer."


@dataclass(frozen=True, slots=True)
class BatchId:
    """A batch of a streaming query, the same when it comes again after a crash.

    `query` is the id in the checkpoint, the same after a restart. `offsets` are the batch's offsets
    in the checkpoint; sinks that store their digest detect a checkpoint that differs.
    """

    query: str
    number: int
    offsets: str = ""

    @property
    def digest(self) -> str:
        """Return the digest of the offsets; it is empty if they are not known."""
        if not self.offsets:
            return ""
        return hashlib.sha256(self.offsets.encode()).hexdigest()[:_DIGEST_SIZE]

    def find_difference(self, written: str) -> str:
        """Return how the offsets differ from those with a digest that was stored; empty if not."""
        if not written or not self.digest or written == self.digest:
            return ""
        return (
            f"with offsets of the digest {written}, and the checkpoint says {self.offsets}, of the "
            f"digest {self.digest}, expected the same: the checkpoint lost files or is an old copy"
        )


@dataclass(frozen=True, slots=True)
class Marker:
    """The part of a batch that a snapshot added.

    Its summary has a digest of the batch's offsets: with the offsets of each partition, the table's
    metadata would grow with snapshots times partitions. They are in the checkpoint.
    """

    query: str
    batch: int
    part: int
    digest: str = ""

    @classmethod
    def of(cls, batch: BatchId, part: int) -> Self:
        """Return the marker of a part of a batch."""
        return cls(batch.query, batch.number, part, batch.digest)

    @classmethod
    def from_summary(cls, summary: Mapping[str, str]) -> Self | None:
        """Return the marker of a snapshot; None if Penstock did not write it."""
        published = summary.get(_PUBLISHED, "")
        if _QUERY not in summary and published.startswith(_WAP):
            # Published after another writer's commit, which copies the files but not the summary.
            query, number, part = published.removeprefix(_WAP).rsplit("/", 2)
            return cls(query, int(number), int(part))
        if _QUERY not in summary:
            return None
        digest = summary.get(_OFFSETS, "")
        return cls(summary[_QUERY], int(summary[_BATCH]), int(summary[_PART]), digest)

    def __str__(self) -> str:
        """Return the part for messages."""
        return f"part {self.part} of batch {self.batch} of query {self.query}"

    @property
    def wap_id(self) -> str:
        """Return the WAP id, which Iceberg publishes at most once."""
        return f"{_WAP}{self.query}/{self.batch}/{self.part}"

    def to_summary(self) -> dict[str, str]:
        """Return the marker as properties of a snapshot's summary."""
        return {
            _QUERY: self.query,
            _BATCH: str(self.batch),
            _PART: str(self.part),
            _OFFSETS: self.digest,
        }


@dataclass(frozen=True, slots=True)
class Commit:
    """One snapshot; `is_first` is true if the table has none before it."""

    sequence: int
    is_first: bool
    marker: Marker | None


@dataclass(frozen=True, slots=True)
class WriterRecord:
    """The progress of a query in a table at sequence number `sequence`.

    Batches before `batch` were over, and the table had `parts` parts of `batch`, whose offsets have
    the digest `digest`; it is empty if they are not known.
    """

    batch: int
    parts: int
    sequence: int
    digest: str = ""

    @staticmethod
    def property_of(query: str) -> str:
        """Return the name of the property that holds the record of a query."""
        return f"{_WRITER}{query}"

    @classmethod
    def from_property(cls, text: str) -> Self:
        """Read a record from the text of a property."""
        return cls(**json.loads(text))

    def to_property(self) -> str:
        """Return the record as the text of a property."""
        return json.dumps(asdict(self))


def list_writers(properties: Mapping[str, str]) -> dict[str, WriterRecord]:
    """Return the records in a table's properties, by query."""
    return {
        name.removeprefix(_WRITER): WriterRecord.from_property(text)
        for name, text in properties.items()
        if name.startswith(_WRITER)
    }


def is_written(
    table: str, commits: Iterable[Commit], record: WriterRecord | None, batch: BatchId, part: int
) -> bool:
    """Return whether a table has a part of a batch.

    Args:
        table: the table's name, for messages.
        commits: its snapshots that are kept, newest first.
        record: the query's record, if the query has written before.
        batch: the last batch that the query began.
        part: the part of the batch.

    Raises:
        LakeHistoryError: the history is incomplete, or the checkpoint is older than the table or
            has other offsets.
    """
    newest, oldest = 0, None
    for commit in commits:
        oldest = commit
        marker = commit.marker
        if marker is None or marker.query != batch.query:
            continue
        if marker.batch == batch.number:
            _check_offsets(table, marker.digest, batch)
            if marker.part >= part:  # in order: an earlier one without a marker had no rows
                return True
        newest = max(newest, marker.batch)
        if marker.batch <= batch.number:
            break
    else:
        if record is not None:
            if record.batch == batch.number and record.parts:
                _check_offsets(table, record.digest, batch)
                if part < record.parts:
                    return True
            newest = max(newest, record.batch)
            if newest <= batch.number and not _covers(record, oldest):
                raise _undecidable(table, record, oldest, batch, part)
    _check_age(table, newest, batch, part)
    return False


def refresh_record(
    commits: Iterable[Commit], query: str, record: WriterRecord, now: int
) -> WriterRecord:
    """Return the record of a query, brought up to date at sequence number `now`."""
    oldest = None
    for commit in commits:
        oldest = commit
        marker = commit.marker
        if marker is not None and marker.query == query:
            return WriterRecord(marker.batch, marker.part + 1, now, marker.digest)
    return replace(record, sequence=now) if _covers(record, oldest) else record


def _covers(record: WriterRecord, oldest: Commit | None) -> bool:
    """Return whether the record covers all snapshots that have expired."""
    return oldest is None or oldest.is_first or oldest.sequence <= record.sequence + 1


def _check_age(table: str, newest: int, batch: BatchId, part: int) -> None:
    if newest > batch.number:
        raise LakeHistoryError(
            f"{table} has batch {newest} of query {batch.query} and not part {part} of batch "
            f"{batch.number}, expected a checkpoint that is as new as the table: {_START_EMPTY}"
        )


def _check_offsets(table: str, written: str, batch: BatchId) -> None:
    if difference := batch.find_difference(written):
        raise LakeHistoryError(
            f"{table} has batch {batch.number} of query {batch.query} {difference}; {_START_EMPTY}"
        )


def _undecidable(
    table: str, record: WriterRecord, oldest: Commit | None, batch: BatchId, part: int
) -> LakeHistoryError:
    name = WriterRecord.property_of(batch.query)
    until = 0 if oldest is None else oldest.sequence
    none, all_ = (
        f"ALTER TABLE {table} SET TBLPROPERTIES "
        f"('{name}' = '{WriterRecord(batch.number, parts, until, batch.digest).to_property()}')"
        for parts in (0, _ALL_PARTS)
    )
    return LakeHistoryError(
        f"cannot determine whether {table} has part {part} of batch {batch.number} of query "
        f"{batch.query}: its snapshots between {record.sequence} and {until} were not expired by "
        f"jobs/maintain_lake.py. Look for rows of the batch's offsets {batch.offsets}. If the "
        f"table has later ones, {_START_EMPTY}. If it has some of them and not all, DELETE them, "
        "as a batch may have several parts. Record what it has then, and start again: if none, "
        f"{none}; if all, {all_}"
    )
