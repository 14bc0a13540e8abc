"""An Iceberg table in memory, and the sink that writes to it as the code that ships does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from penstock.spark.sinks.iceberg import Lake
from penstock.tables import Commit, Marker
from tests.simulation.weather import Trouble, Weather

_UNDONE = {Trouble.LOST, Trouble.THROTTLED, Trouble.DENIED, Trouble.ODD}
_WAP, _PUBLISHED = "wap.id", "published-wap-id"


class LakeDownError(Exception):
    """The catalog or the bucket of the table did not answer; the change may have happened."""


class Rows(tuple[int, ...]):
    """Rows of a part: the offsets of their records."""

    sparkSession = None


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of the table; `parent` is the sequence number of the one before it."""

    sequence: int
    parent: int
    summary: Mapping[str, str]
    rows: Rows
    fence: int
    published_at: float


@dataclass(frozen=True)
class Metadata:
    """A state of the table, which each commit replaces; all rows stay, snapshots may expire."""

    snapshots: tuple[Snapshot, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    sequence: int = 0
    rows: tuple[int, ...] = ()


@dataclass
class SimulatedTable:
    """The catalog of one table, and the snapshots that are staged."""

    weather: Weather
    clock: Callable[[], float]
    metadata: Metadata = field(default_factory=Metadata)
    staged: dict[str, Snapshot] = field(default_factory=dict)
    fences: list[int] = field(default_factory=list)

    def commit(self, change: Callable[[], None]) -> None:
        """Make a change, or fail, perhaps after the change was made or before it is."""
        trouble = self.weather.call("s3")
        if trouble is Trouble.LATE:
            self.weather.do_late(change)
        elif trouble not in _UNDONE:
            change()
        if trouble is not None:
            raise LakeDownError(trouble)

    def publish(self, attempt: str) -> bool:
        """Publish a staged snapshot as Iceberg's cherry-pick does, each WAP id once."""
        staged, before = self.staged[attempt], self.metadata
        wap_id = staged.summary[_WAP]
        for each in before.snapshots:
            if wap_id in {each.summary.get(_WAP), each.summary.get(_PUBLISHED)}:
                return each.summary.get("attempt") == attempt
        summary = dict(staged.summary)
        if staged.parent != before.sequence:  # only the files are copied
            summary = {_PUBLISHED: wap_id}
        sequence = before.sequence + 1
        summary["attempt"] = attempt
        now = self.clock()
        snapshot = Snapshot(sequence, before.sequence, summary, staged.rows, staged.fence, now)
        self.fences.append(staged.fence)
        self.metadata = Metadata(
            (*before.snapshots, snapshot), before.properties, sequence, (*before.rows, *staged.rows)
        )
        return True


class TableView:
    """The table as one program has loaded it, behind the methods of `IcebergTable`."""

    def __init__(self, table: SimulatedTable) -> None:
        self._table = table
        self.name = "lake"
        self.refresh()

    def refresh(self) -> None:
        """Load the table as it is now."""
        if trouble := self._table.weather.call("s3"):
            raise LakeDownError(trouble)
        self._seen = self._table.metadata

    def schema(self) -> tuple[()]:
        """Return the columns, which stay the same."""
        return ()

    def properties(self) -> dict[str, str]:
        """Return the properties of the table."""
        return dict(self._seen.properties)

    def commits(self) -> Iterator[Commit]:
        """Yield the snapshots that are kept, newest first."""
        for each in reversed(self._seen.snapshots):
            staged = self._table.staged.get(each.summary.get("attempt", ""), each)
            yield Commit(each.sequence, not each.parent, Marker.from_summary(staged.summary))

    def sequence(self) -> int:
        """Return the sequence number of the last commit."""
        return self._seen.sequence

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Set properties in one commit."""
        table = self._table

        def change() -> None:
            now = table.metadata
            table.metadata = replace(now, properties={**now.properties, **properties})

        table.commit(change)
        self._seen = table.metadata

    def expire(self, before_ms: int) -> None:
        """Expire snapshots that are older, except for the newest."""
        table = self._table

        def change() -> None:
            now = table.metadata
            kept = [each for each in now.snapshots if each.published_at * 1_000 >= before_ms]
            kept = kept or list(now.snapshots[-1:])
            table.metadata = replace(now, snapshots=tuple(kept))

        table.commit(change)

    def rewrite(self) -> None:
        """Commit a snapshot without new rows, as a compaction does."""
        table = self._table

        def change() -> None:
            now = table.metadata
            snapshot = Snapshot(now.sequence + 1, now.sequence, {}, Rows(), 0, table.clock())
            table.metadata = replace(
                now, snapshots=(*now.snapshots, snapshot), sequence=snapshot.sequence
            )

        table.commit(change)
        self._seen = table.metadata

    def stage(self, rows: Rows, summary: Mapping[str, str]) -> None:
        """Stage an append under its attempt."""
        table, attempt = self._table, summary["penstock.attempt"]

        def change() -> None:
            fence, parent = int(summary["penstock.fence"]), table.metadata.sequence
            table.staged[attempt] = Snapshot(0, parent, summary, rows, fence, 0.0)

        table.commit(change)

    def publish(self, key: str, text: str) -> bool:
        """Publish a staged snapshot; return False if another with its WAP id was published."""
        published: list[bool] = []
        self._table.commit(lambda: published.append(self._table.publish(text)))
        self._seen = self._table.metadata
        return published[0]


class _NoExpiration:
    def expire(self, table: Any) -> None:
        """Leave it to the program that maintains the table."""


class SimulatedLake(Lake):
    """The sink without Spark: what it decides is its own, what it computes is not there."""

    def __init__(self, table: SimulatedTable, fence: Any) -> None:
        self._at = table
        self._fence = fence
        self._name = "lake"
        self._spark: Any = None
        self._expiration: Any = _NoExpiration()

    def _open(self, session: Any) -> Any:
        return TableView(self._at)

    def _append(self, table: Any, rows: Any, marker: Any) -> Any:
        self._publish(table, partial(self._stage, table, rows), marker)
        return {}

    def _stage(self, table: Any, rows: Any, wap_id: str, summary: Mapping[str, str]) -> None:
        table.stage(rows, {**summary, _WAP: wap_id})

    def _file_inexact(self, table: Any, rows: Any) -> Any:
        return {}
