"""The result that staging must have for the changes of a publisher, computed on its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from demo.staging.publisher import DRIVER, RETRIES, TABLES, Change, Row

_NEEDS = {
    each["table"]: (each["name"], list(each["key"].values())) for each in TABLES[-1]["dependencies"]
}


@dataclass(slots=True)
class _Waiting:
    """A version of a shipment that waits, and the tick of its first try."""

    version: int
    row: Row
    since: int


@dataclass(slots=True)
class Model:
    """The final rows by shipment (None: deleted), and the versions of shipments that are parked."""

    finals: dict[str, Row | None] = field(default_factory=dict)
    parked: dict[tuple[str, int], int] = field(default_factory=dict)  # with the tick
    _rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    _waiting: dict[str, _Waiting] = field(default_factory=dict)
    _versions: dict[str, int] = field(default_factory=dict)

    @property
    def notices(self) -> int:
        """The number of ticks in which records are parked, each with one notice."""
        return len(set(self.parked.values()))

    def take(self, tick: int, changes: Iterable[Change]) -> None:
        """Take the changes of a tick, then join, then park what its third retry fails for."""
        for change in changes:
            if change.table == DRIVER:
                self._take_driver(change)
            elif change.row is None:
                del self._rows[change.table, change.key]
            else:
                self._rows[change.table, change.key] = change.row
        for shipment, waiting in list(self._waiting.items()):
            if (final := self._join(waiting.row)) is not None:
                self.finals[shipment] = final
                del self._waiting[shipment]
            elif tick - waiting.since >= RETRIES[-1]:
                self.parked[shipment, waiting.version] = tick
                del self._waiting[shipment]

    def _take_driver(self, change: Change) -> None:
        version = self._versions[change.key] = self._versions.get(change.key, 0) + 1
        self._waiting.pop(change.key, None)
        if change.row is None:
            self.finals[change.key] = None
        else:
            self._waiting[change.key] = _Waiting(version, change.row, change.tick)

    def _join(self, row: Row) -> Row | None:
        """Return the final row, or None if a dependency is missing."""
        final = dict(row)
        for table, (name, columns) in _NEEDS.items():
            found = self._rows.get((table, "/".join(str(row[column]) for column in columns)))
            if found is None:
                return None
            final[name] = found
        return final
