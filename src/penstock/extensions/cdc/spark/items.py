"""Items of DynamoDB, and the changes of rows that become part of them.

An item has `_lsn` and `_offset`, the place of its last change. A value that this change does not
have, as PostgreSQL keeps long ones out of line, is from the last change that has it, in whatever
order changes come: `_older_lsn` has the places of those that are older than the item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Item = dict[str, Any]
OLDER: Final = "_older_lsn"
NONE: Final = -1  # the place of a value that no change has


@dataclass(frozen=True, slots=True)
class ItemChange:
    """The net change of a row.

    Attributes:
        item: the row after it; of a deleted row, its key and what says that it is deleted.
        lsn: the place of its last change.
        offset: the Kafka offset of that change.
        places: the places of values that may be older, by attribute; None for one without a value.
    """

    item: Mapping[str, Any]
    lsn: int
    offset: int
    places: Mapping[str, int | None]

    @property
    def is_whole(self) -> bool:
        """Return whether its last change has all values."""
        return all(place == self.lsn for place in self.places.values())

    def merge(self, found: Item | None) -> Item | None:
        """Return the item after this change; None if it stays as it is found."""
        if found and (found["_lsn"], found["_offset"]) >= (self.lsn, self.offset):
            return self._mend(found)
        return self.replace(found or {})

    def replace(self, found: Item) -> Item:
        """Return the item of this change, with values of an earlier item, or {}, that are later."""
        known = dict.fromkeys(self.places, found.get("_lsn", NONE)) | found.get(OLDER, {})
        item = {**self.item, "_lsn": self.lsn, "_offset": self.offset}
        older = {}
        for name, place in self.places.items():
            if place is None or place < known[name]:
                item[name] = found.get(name)
            last = max(known[name], NONE if place is None else place)
            if last < self.lsn:
                older[name] = last
        return item | ({OLDER: older} if older else {})

    def _mend(self, found: Item) -> Item | None:
        """Return a later item with values of this change that are later than its own."""
        older = found.get(OLDER, {})
        given = {
            name: place
            for name, place in self.places.items()
            if place is not None and place >= older.get(name, found["_lsn"] + 1)
        }
        if not given:
            return None
        left = {name: at for name, at in {**older, **given}.items() if at < found["_lsn"]}
        item = {**found, **{name: self.item.get(name) for name in given}}
        del item[OLDER]
        return item | ({OLDER: left} if left else {})
