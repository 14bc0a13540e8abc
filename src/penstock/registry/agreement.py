"""The rule by which all programs choose the same usable versions of a schema.

A registry compares a new version with only one or two older ones, so two independent producers can
register versions that contradict each other: `temperature` as double, and as string. Every reader
and producer applies the same rule without coordination: in the order of the numbers, a version
that contradicts the usable versions below it, one after the other or all at once, is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from penstock.errors import SchemaConflictError, SchemaNotFoundError
from penstock.registry.interface import SchemaVersion
from penstock.schemas import Schema, extend_at_once, extend_merge

# A version that was not found this many times was deleted, unless a list has it.
_MOST_MISSES = 3

# One merge of many takes a fraction of the time, but does not tell which version contradicts.
_MERGED_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Agreement:
    """Which versions of these numbers are usable, and their merge."""

    numbers: tuple[int, ...] = ()
    usable: tuple[int, ...] = ()
    schemas: tuple[Schema, ...] = ()  # of the usable versions
    merged: tuple[Schema, ...] = ()  # one schema, or none

    def with_versions(self, schemas: Mapping[int, Schema]) -> Agreement:
        """Return this with more versions, in the order of their numbers, higher than all of these.

        Args:
            schemas: the schemas of the versions, by number.
        """
        agreed, numbers = self, list(schemas)
        for start in range(0, len(numbers), _MERGED_AT_ONCE):
            group = {number: schemas[number] for number in numbers[start : start + _MERGED_AT_ONCE]}
            agreed = agreed._with_group(group)
        return agreed

    def _with_group(self, schemas: Mapping[int, Schema]) -> Agreement:
        """Merge versions at once, or one by one if that does not tell which are usable."""
        merged = None
        if len(schemas) > 1:
            merged = extend_at_once(self.merged, list(schemas.values()))
        if merged is None:
            agreed = self
            for number, schema in schemas.items():
                agreed = agreed.with_version(number, schema)
            return agreed
        return Agreement(
            (*self.numbers, *schemas),
            (*self.usable, *schemas),
            (*self.schemas, *schemas.values()),
            (merged,),
        )

    def with_version(self, number: int, schema: Schema) -> Agreement:
        """Return this with one more version, whose number is higher than all of these."""
        numbers = (*self.numbers, number)
        try:
            merged = self.merge_with(schema)
        except SchemaConflictError:
            return replace(self, numbers=numbers)
        return Agreement(numbers, (*self.usable, number), (*self.schemas, schema), (merged,))

    def merge_with(self, schema: Schema) -> Schema:
        """Return the merge with one more version, or raise SchemaConflictError."""
        return extend_merge(self.merged, self.schemas, schema)


class History:
    """The versions of one schema, each read and merged once, as a number keeps its definition.

    `read` returns a version by number, after waiting while it is pending, or None if it is
    unusable. Threads may share a history without a lock; at worst two threads read the same
    number. Its size needs no bound, as a registry takes 10 000 versions in total.
    """

    def __init__(self, read: Callable[[int], SchemaVersion | None]) -> None:
        self._read = read
        self._known: dict[int, SchemaVersion | None] = {}
        self._misses: Counter[int] = Counter()
        self._agreed = Agreement()

    def below(self, number: int) -> tuple[SchemaVersion, ...]:
        """Return the usable versions below a number, and read those that are not known yet."""
        self._learn(each for each in range(1, number) if self._misses[each] < _MOST_MISSES)
        return tuple(version for version in self._agree() if version.number < number)

    def refresh(self, numbers: Collection[int]) -> tuple[SchemaVersion, ...]:
        """Return the usable versions among these numbers, and forget all others: they are gone."""
        for number in set(self._known).difference(numbers):
            self._known.pop(number, None)
        self._learn(numbers)
        return self._agree()

    def available(self) -> dict[int, Schema]:
        """Return the schemas by number that the registry has accepted, the refused ones too."""
        known = self._known.copy()
        return {number: version.schema for number, version in known.items() if version is not None}

    def add(self, version: SchemaVersion) -> None:
        """Add an available version that the caller has read."""
        self._known[version.number] = version

    def check(self, version: SchemaVersion) -> None:
        """Raise SchemaConflictError if a version contradicts the usable versions below it."""
        below = self.below(version.number)
        agreed = self._agreed
        if version.number in agreed.usable:
            return
        if version.number <= max(agreed.numbers, default=0):
            agreed = Agreement().with_versions({each.number: each.schema for each in below})
        try:
            agreed.merge_with(version.schema)
        except SchemaConflictError as error:
            raise SchemaConflictError(
                f"version {version.number} of schema {version.name} contradicts those below it and "
                f"is refused: {error}",
                path=error.path,
            ) from error

    def check_new(self, name: str, schema: Schema) -> None:
        """Raise SchemaConflictError if a new version would contradict the usable versions."""
        try:
            self._agree()
            self._agreed.merge_with(schema)
        except SchemaConflictError as error:
            raise SchemaConflictError(
                f"a new version of schema {name} would contradict its versions: {error}",
                path=error.path,
            ) from error

    def _learn(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number not in self._known:
                try:
                    self._known[number] = self._read(number)
                except SchemaNotFoundError:
                    # Deleted or not visible yet: it is read again, as it may become visible.
                    self._misses[number] += 1

    def _agree(self) -> tuple[SchemaVersion, ...]:
        """Return the usable versions of those that are known."""
        found = sorted(self._known.copy().items())
        known = {number: version for number, version in found if version is not None}
        agreed = self._agreed
        if tuple(known)[: len(agreed.numbers)] != agreed.numbers:
            agreed = Agreement()  # a version below the last one was deleted, or became visible
        new = list(known)[len(agreed.numbers) :]
        agreed = agreed.with_versions({number: known[number].schema for number in new})
        self._agreed = agreed
        return tuple(known[number] for number in agreed.usable)
