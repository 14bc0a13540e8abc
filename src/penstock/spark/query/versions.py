"""The schema versions of a table's batch: those known when it began, and what it looks up since.

A batch begins with the `WORKING_SET` versions of each table that were looked up last, since each
task reads the schemas of all versions that a batch is decoded with. A record of an earlier version
makes its batch look it up again, in the ledger alone; so versions that are in use stay in the set.
Versions that fit together only beside an earlier one, such as a union of their types, are not left
without it: then the set is all versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import SparkSession

from penstock.errors import Failure, Reason, SchemaConflictError
from penstock.framing import SchemaKey
from penstock.records import Projection
from penstock.registry import Registries, SchemaVersion
from penstock.schemas import merge_schemas
from penstock.spark.decoding.admission import admit_versions, find_versions
from penstock.spark.state.schema_ledger import Lookup, Lookups
from penstock.tables import BatchId

IDS_AT_ONCE: Final = 1_000
# A batch that comes again after a crash must begin with the same set: to change this number, first
# end jobs between two batches.
WORKING_SET: Final = 500
# Records with random ids must not keep a batch from its end: every lookup is a call.
_MAX_REFUSED: Final = 100
_NOT_LOOKED_UP: Final = Failure(
    Reason.UNKNOWN_SCHEMA,
    f"found more than {_MAX_REFUSED} unknown schema ids in one batch, expected ids of a registry; "
    "this one, among the rarest of them, was not looked up",
)


@dataclass(slots=True)
class BatchVersions:
    """The versions that a batch is split by; those in `dormant` are known, and not in the set.

    If it `inflates`, an earlier batch had compressed records; its own are inflated with the others.
    """

    id: BatchId
    known: tuple[SchemaVersion, ...]
    dormant: tuple[SchemaVersion, ...] = ()
    lookups: list[Lookup] = field(default_factory=list)
    inflates: bool = False

    def all(self) -> tuple[SchemaVersion, ...]:
        """Return all versions that are known by now."""
        return (*self.known, *(each for lookup in self.lookups for each in lookup.versions))

    def count_new(self) -> int:
        """Return the number of versions that no earlier batch had."""
        dormant = {each.key for each in self.dormant}
        return sum(each.key not in dormant for each in self.all()) - len(self.known)

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


class VersionLookup:
    """Looks up versions for the batches of one table, or of tables by schema name.

    `registries` should cache their answers. `names` are the schema names that have a table; None if
    all versions are one table's. `columns` are those of a staged table.
    """

    def __init__(
        self,
        spark: SparkSession,
        registries: Registries,
        ledger: Lookups,
        names: Collection[str] | None = None,
        columns: Projection | None = None,
    ) -> None:
        self._spark = spark
        self._registries = registries
        self._ledger = ledger
        self._names = names
        self._columns = columns
        self._merged: tuple[tuple[SchemaKey, ...], bool] = ((), True)

    def open(self, batch: BatchId) -> BatchVersions:
        """Return the versions that are known when a batch begins, whether it comes again or not."""
        self._ledger.tidy(batch.number)
        versions = self._ledger.before(batch.number)
        inflates = self._ledger.inflates(batch.number)
        later = Counter(map(self.table_of, versions))
        known: list[SchemaVersion] = []
        dormant: list[SchemaVersion] = []
        for version in versions:
            table = self.table_of(version)
            (dormant if later[table] > WORKING_SET else known).append(version)
            later[table] -= 1
        if dormant and not self._fit_together(known):
            return BatchVersions(batch, versions, inflates=inflates)
        return BatchVersions(batch, tuple(known), tuple(dormant), inflates=inflates)

    def note_compressed(self, batch: BatchVersions) -> None:
        """Let later batches inflate compressed records with the others, since this one has some."""
        self._ledger.note_compressed(batch.id.number)

    def earlier(self, batch: BatchVersions) -> tuple[Lookup, ...]:
        """Return the lookups that the batch made before it came again."""
        return self._ledger.lookups(batch.id.number)

    def look_up(self, batch: BatchVersions, keys: Sequence[SchemaKey]) -> Lookup:
        """Look up versions until too many are unknown, and write the answers to the ledger.

        Those that the ledger has are not looked up in a registry, and not checked again.

        Raises:
            PenstockError: an answer is not final.
        """
        dormant = {each.key: each for each in batch.dormant}
        again = [dormant[key] for key in keys if key in dormant]
        new = [key for key in keys if key not in dormant]
        left = _MAX_REFUSED - len(batch.refused())
        found, refused = find_versions(self._registries, new, left)
        others = None if len(found) + len(refused) == len(new) else _NOT_LOOKED_UP
        if others:
            # All that is unknown after this lookup is given up.
            again = list(batch.dormant)
        refused |= self.find_unroutable(found)
        routed = [each for each in found if each.key not in refused]
        admitted, inadmissible = admit_versions(
            self._spark, routed, (*batch.dormant, *batch.all()), self.table_of, self._columns
        )
        refused |= inadmissible
        if batch.dormant and not self._fit_together([*batch.all(), *again, *admitted]):
            again = list(batch.dormant)
        number = len(batch.lookups) + 1
        lookup = Lookup(batch.id.number, number, (*again, *admitted), refused, others)
        self._ledger.add(lookup)
        return lookup

    def _fit_together(self, versions: Sequence[SchemaVersion]) -> bool:
        """Return whether the versions of each table can be merged without others."""
        keys = tuple(each.key for each in versions)
        if self._merged[0] != keys:
            self._merged = (keys, self._can_merge(versions))
        return self._merged[1]

    def _can_merge(self, versions: Sequence[SchemaVersion]) -> bool:
        try:
            for table in {self.table_of(each) for each in versions}:
                merge_schemas([each.schema for each in self.of_table(table, versions)])
        except SchemaConflictError:
            return False
        return True

    def has_versions(self, number: int) -> bool:
        """Return whether any version is known when a batch begins."""
        return bool(self._ledger.before(number))

    def table_of(self, version: SchemaVersion) -> str:
        """Return the name of a version's table; it is empty if there is only one."""
        return "" if self._names is None else version.name

    def of_table(self, table: str, versions: Iterable[SchemaVersion]) -> tuple[SchemaVersion, ...]:
        """Return the versions of a table."""
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
