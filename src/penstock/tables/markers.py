"""Which batches a table has, as its own history tells it; what is there is not written again.

Each append leaves a marker of its batch in the summary of its snapshot. Snapshots expire, so each
query that writes also has a record among the table's properties: what it had written when the
table was at a sequence number. Whoever expires snapshots brings the records up to date first
(`jobs/maintain_lake.py`). Where somebody else expired more than the record covers, nobody can tell
whether the batch is there, and writing stops with a sentence instead of guessing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, Self

from penstock.errors import LakeHistoryError

# Anybody who expires snapshots must leave these.
LEAST_KEPT_HOURS: Final = 24
_QUERY: Final = "penstock.query"
_BATCH: Final = "penstock.batch"
_PART: Final = "penstock.part"
_OFFSETS: Final = "penstock.offsets"
# What Iceberg calls the id that it publishes a staged snapshot by, once.
_PUBLISHED: Final = "published-wap-id"
MARKER_KEYS: Final = (_QUERY, _BATCH, _PART, _OFFSETS, _PUBLISHED)
_WAP: Final = "penstock.part/"
_WRITER: Final = "penstock.writer."


@dataclass(frozen=True, slots=True)
class BatchId:
    """A batch of a streaming query, the same when it comes again after a crash.

    `query` is the id in the checkpoint, which outlives restarts. `offsets` is what the checkpoint
    says the batch holds; sinks that keep it notice a checkpoint that tells another story.
    """

    query: str
    number: int
    offsets: str = ""


@dataclass(frozen=True, slots=True)
class Marker:
    """Which part of which batch a snapshot added."""

    batch: BatchId
    part: int

    @classmethod
    def from_summary(cls, summary: Mapping[str, str]) -> Self | None:
        """Read the marker of a snapshot; None where it is not one of ours."""
        published = summary.get(_PUBLISHED, "")
        if _QUERY not in summary and published.startswith(_WAP):
            # Published behind the commit of another writer, which copies the files alone.
            query, number, part = published.removeprefix(_WAP).rsplit("/", 2)
            return cls(BatchId(query, int(number)), int(part))
        if _QUERY not in summary:
            return None
        batch = BatchId(summary[_QUERY], int(summary[_BATCH]), summary.get(_OFFSETS, ""))
        return cls(batch, int(summary[_PART]))

    @property
    def wap_id(self) -> str:
        """Name what Iceberg publishes once at most."""
        return f"{_WAP}{self.batch.query}/{self.batch.number}/{self.part}"

    def to_summary(self) -> dict[str, str]:
        """Write it as properties of a snapshot."""
        return {
            _QUERY: self.batch.query,
            _BATCH: str(self.batch.number),
            _PART: str(self.part),
            _OFFSETS: self.batch.offsets,
        }


@dataclass(frozen=True, slots=True)
class Commit:
    """One snapshot; `is_first` says that the table has none before it."""

    sequence: int
    is_first: bool
    marker: Marker | None


@dataclass(frozen=True, slots=True)
class WriterRecord:
    """At sequence number `sequence` batches before `batch` were over, and `parts` of it there."""

    batch: int
    parts: int
    sequence: int

    @staticmethod
    def property_of(query: str) -> str:
        """Name the property that holds the record of a query."""
        return f"{_WRITER}{query}"

    @classmethod
    def from_property(cls, text: str) -> Self:
        """Read the record."""
        return cls(**json.loads(text))

    def to_property(self) -> str:
        """Write the record."""
        return json.dumps(asdict(self))


def list_writers(properties: Mapping[str, str]) -> dict[str, WriterRecord]:
    """Find the records among a table's properties, by query."""
    return {
        name.removeprefix(_WRITER): WriterRecord.from_property(text)
        for name, text in properties.items()
        if name.startswith(_WRITER)
    }


def is_written(
    table: str, commits: Iterable[Commit], record: WriterRecord | None, batch: BatchId, part: int
) -> bool:
    """Tell whether a table has a part of a batch.

    Args:
        table: the table's name, for messages.
        commits: its snapshots, newest first, as far as they are kept.
        record: the query's, where it has written before.
        batch: the batch, which is the query's last that was begun.
        part: the part of it.

    Raises:
        LakeHistoryError: it cannot be told, or the checkpoint is older than the table.
    """
    newest, oldest = 0, None
    for commit in commits:
        oldest = commit
        marker = commit.marker
        if marker is None or marker.batch.query != batch.query:
            continue
        if marker.batch.number == batch.number and marker.part >= part:
            # Parts are written in their order: one that is not there had no rows.
            _check_offsets(table, marker.batch, batch)
            return True
        newest = max(newest, marker.batch.number)
        if marker.batch.number <= batch.number:
            break
    else:
        if record is not None:
            if record.batch == batch.number and part < record.parts:
                return True
            newest = max(newest, record.batch)
            if newest <= batch.number and not _covers(record, oldest):
                raise _undecidable(table, record, oldest, batch, part)
    _check_age(table, newest, batch, part)
    return False


def settle(commits: Iterable[Commit], query: str, record: WriterRecord, now: int) -> WriterRecord:
    """Bring the record of a query up to what the table has at sequence number `now`."""
    oldest = None
    for commit in commits:
        oldest = commit
        marker = commit.marker
        if marker is not None and marker.batch.query == query:
            return WriterRecord(marker.batch.number, marker.part + 1, now)
    return replace(record, sequence=now) if _covers(record, oldest) else record


def _covers(record: WriterRecord, oldest: Commit | None) -> bool:
    """Whether no snapshot is gone that the record does not know of."""
    return oldest is None or oldest.is_first or oldest.sequence <= record.sequence + 1


def _check_age(table: str, newest: int, batch: BatchId, part: int) -> None:
    if newest > batch.number:
        raise LakeHistoryError(
            f"{table} has batch {newest} of query {batch.query} and not part {part} of batch "
            f"{batch.number}, expected a checkpoint that is as new as the table: begin anew with "
            "an empty checkpoint and the offsets that follow what the table has"
        )


def _check_offsets(table: str, written: BatchId, batch: BatchId) -> None:
    if written.offsets and batch.offsets and written.offsets != batch.offsets:
        raise LakeHistoryError(
            f"{table} has batch {batch.number} of query {batch.query} with the offsets "
            f"{written.offsets}, and the checkpoint says {batch.offsets}, expected the same: "
            "the checkpoint lost files or is an old copy; begin anew with an empty one and the "
            "offsets that follow what the table has"
        )


def _undecidable(
    table: str, record: WriterRecord, oldest: Commit | None, batch: BatchId, part: int
) -> LakeHistoryError:
    name = WriterRecord.property_of(batch.query)
    until = 0 if oldest is None else oldest.sequence
    there = WriterRecord(batch.number, part + 1, until)
    return LakeHistoryError(
        f"whether {table} has part {part} of batch {batch.number} of query {batch.query} cannot be "
        f"told: its snapshots between {record.sequence} and {until} were expired by other means "
        "than jobs/maintain_lake.py. See whether the table has rows of the batch's offsets "
        f"{batch.offsets}, say so and start again: if it has none, ALTER TABLE {table} UNSET "
        f"TBLPROPERTIES ('{name}'), else ALTER TABLE {table} SET TBLPROPERTIES ('{name}' = "
        f"'{there.to_property()}')"
    )
