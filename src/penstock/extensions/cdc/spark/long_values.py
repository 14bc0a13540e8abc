"""SQL of values that the last change of a row may not have: PostgreSQL keeps long ones out of line.

A row's last change gives it all values but these; each of them is from the last change that has it,
in whatever order changes come. `_older_lsn` of a row has the places of those that are older than
the row. In a MERGE, `t` is the row and `s` the net change of a batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.extensions.cdc.spark.items import NONE, OLDER
from penstock.spark.lake.conversion import quote, quote_text


@dataclass(frozen=True, slots=True)
class LongValue:
    """A column with such values.

    Attributes:
        name: its name.
        kept: the SQL of the place of the batch's value; empty if each is of its row's last change.
    """

    name: str
    kept: str

    @property
    def column(self) -> str:
        """The name, for SQL."""
        return quote(self.name)

    @property
    def key(self) -> str:
        """The name as a text of SQL, as `_older_lsn` has it."""
        return quote_text(self.name)

    @property
    def is_later(self) -> str:
        """The condition that the batch's value is later than the row's, which is an older one."""
        return f"COALESCE({self._given} >= {self._older}, FALSE)"

    def write_first(self) -> str:
        """Return the place of the value of a new row."""
        return f"COALESCE({self.kept}, {NONE}L)"

    def choose(self) -> str:
        """Return the value of a row that gets a later change."""
        return f"IF({self.kept} >= {self._known}, s.{self.column}, t.{self.column})"

    def write_place(self) -> str:
        """Return the place of that value."""
        return f"GREATEST({self.kept}, {self._known})"

    def choose_late(self) -> str:
        """Return the value of a row that gets an earlier change."""
        return f"IF({self.is_later}, IF(s._deleted, NULL, s.{self.column}), t.{self.column})"

    def write_late_place(self) -> str:
        """Return the place of that value."""
        return f"IF({self.is_later}, {self._given}, {self._older})"

    @property
    def _given(self) -> str:
        return self.kept or "s._lsn"

    @property
    def _older(self) -> str:
        return f"t.{OLDER}[{self.key}]"

    @property
    def _known(self) -> str:
        return f"COALESCE({self._older}, t._lsn)"


def write_older(places: Mapping[str, str], lsn: str) -> str:
    """Return `_older_lsn` of a row at a place, by the keys and places of its long values."""
    if not places:
        return "NULL"
    entries = ", ".join(f"{key}, {place}" for key, place in places.items())
    has_one = " OR ".join(f"{place} < {lsn}" for place in places.values())
    return f"IF({has_one}, MAP_FILTER(MAP({entries}), (name, place) -> place < {lsn}), NULL)"
