"""The schema versions of a batch: those known when it began, and those that it looks up."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from penstock.consuming import MAX_WAITING
from penstock.errors import Failure, Reason
from penstock.framing import SchemaKey
from penstock.registry import SchemaVersion
from penstock.spark.decoding.admission import admit_versions, find_versions
from penstock.spark.query.parts import BatchContext
from penstock.spark.sinks.table import TableGroup
from penstock.spark.state.schema_ledger import Lookup, Lookups
from penstock.tables import BatchId

IDS_AT_ONCE: Final = MAX_WAITING
# Records with random ids must not keep a batch from its end: every lookup is a call.
_MAX_REFUSED: Final = 100
_NOT_LOOKED_UP: Final = Failure(
    Reason.UNKNOWN_SCHEMA,
    f"found more than {_MAX_REFUSED} unknown schema ids in one batch, expected ids of a registry; "
    "this one, among the rarest of them, was not looked up",
)


@dataclass(slots=True)
class BatchVersions:
    """The versions that a batch is split by."""

    id: BatchId
    known: tuple[SchemaVersion, ...]
    lookups: list[Lookup] = field(default_factory=list)

    def all(self) -> tuple[SchemaVersion, ...]:
        """Return all versions that are known by now."""
        return (*self.known, *(each for lookup in self.lookups for each in lookup.versions))

    def count_new(self) -> int:
        """Return the number of versions that no earlier batch had."""
        return len(self.all()) - len(self.known)

    def refused(self) -> list[SchemaKey]:
        """Return the keys of versions that were looked up and cannot be used."""
        return [key for lookup in self.lookups for key in lookup.refused]

    def answered(self) -> list[SchemaKey]:
        """Return the keys that are either known or refused."""
        return [*(each.key for each in self.all()), *self.refused()]

    @property
    def is_answered(self) -> bool:
        """Return whether the last lookup decided about all versions that were left."""
        return bool(self.lookups) and self.lookups[-1].others is not None


def rank_keys(counts: Mapping[SchemaKey, int], answered: Collection[SchemaKey]) -> list[SchemaKey]:
    """Return keys without an answer, most frequent first, at most `IDS_AT_ONCE` of them."""
    left = [each for each in counts.items() if each[0] not in answered]
    ordered = sorted(left, key=lambda each: (-each[1], each[0].pack()))
    return [key for key, _ in ordered[:IDS_AT_ONCE]]


class VersionLookup:
    """Looks up versions for the batches of one table, or of tables by schema name.

    The registries should cache their answers. A version is refused that the columns of earlier ones
    cannot hold, if the tables have columns.
    """

    def __init__(self, group: TableGroup, context: BatchContext, ledger: Lookups) -> None:
        self._ledger = ledger
        self._registries = context.registries
        self._max_refused = math.inf if context.asks_all else _MAX_REFUSED
        self._names = group.tables.keys() if group.is_routed else None
        self._columns = group.columns
        self._keep_columns = not group.reads_records

    def open(self, batch: BatchId) -> BatchVersions:
        """Return the versions that are known when a batch begins, whether it comes again or not."""
        self._ledger.tidy(batch.number)
        return BatchVersions(batch, self._ledger.before(batch.number))

    def look_up(
        self, batch: BatchVersions, find_keys: Callable[[], Sequence[SchemaKey]]
    ) -> Lookup | None:
        """Add the next lookup of the batch and return it; None if no key is unknown.

        A lookup that the batch made before it came again is the next one. Otherwise the unknown
        keys are looked up, until too many of them are in no registry, and the answers are written
        to the ledger.

        Raises:
            PenstockError: an answer is not final.
        """
        made = self._ledger.lookups(batch.id.number)[len(batch.lookups) :]
        if made:
            batch.lookups.append(made[0])
        elif not batch.is_answered and (keys := find_keys()):
            batch.lookups.append(self._look_up_keys(batch, keys))
        else:
            return None
        return batch.lookups[-1]

    def _look_up_keys(self, batch: BatchVersions, keys: Sequence[SchemaKey]) -> Lookup:
        left = self._max_refused - len(batch.refused())
        found, refused = find_versions(self._registries, keys, left)
        others = None if len(found) + len(refused) == len(keys) else _NOT_LOOKED_UP
        refused |= self.find_unroutable(found)
        routed = [each for each in found if each.key not in refused]
        admitted, inadmissible = admit_versions(
            routed, batch.all(), self.table_of, self._columns, keep_columns=self._keep_columns
        )
        number = len(batch.lookups) + 1
        refused |= inadmissible
        lookup = Lookup(batch.id.number, number, tuple(admitted), refused, others)
        self._ledger.add(lookup)
        return lookup

    def has_versions(self, number: int) -> bool:
        """Return whether any version is known when a batch begins."""
        return bool(self._ledger.before(number))

    def table_of(self, version: SchemaVersion) -> str:
        """Return the name of a version's table; it is empty if there is only one."""
        return "" if self._names is None else version.name

    def of_table(self, table: str, versions: Iterable[SchemaVersion]) -> tuple[SchemaVersion, ...]:
        """Return those of the versions whose records go to a table."""
        return tuple(each for each in versions if self.table_of(each) == table)

    def find_unroutable(self, versions: Iterable[SchemaVersion]) -> dict[SchemaKey, Failure]:
        """Return the failures of versions without a table."""
        names = self._names
        if names is None:
            return {}
        return {
            each.key: Failure(
                Reason.UNROUTABLE,
                f"found a record of schema {each.name}, expected one of {', '.join(names)}",
            )
            for each in versions
            if each.name not in names
        }
