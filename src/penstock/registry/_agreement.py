"""The rule by which all programs choose the same usable versions of a schema.

A registry compares a new version with only one or two older ones, so two independent producers can
register versions that contradict each other: `temperature` as double, and as string. Every reader
and producer applies the same rule without coordination: in the order of the numbers, a version
that contradicts the merge of the usable versions below it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from penstock.errors import SchemaConflictError, SchemaNotFoundError
from penstock.registry.interface import SchemaVersion
from penstock.schemas import Schema, merge_schemas


def agree(versions: Iterable[SchemaVersion]) -> tuple[SchemaVersion, ...]:
    """Return the usable ones among a schema's versions, oldest first."""
    agreed: list[SchemaVersion] = []
    merged: list[Schema] = []
    for version in sorted(versions, key=lambda each: each.number):
        try:
            merged = [merge_schemas([*merged, version.schema])]
        except SchemaConflictError:
            continue
        agreed.append(version)
    return tuple(agreed)


def check_agreement(version: SchemaVersion, below: Iterable[SchemaVersion]) -> None:
    """Raise SchemaConflictError if a version contradicts the usable versions below it."""
    try:
        merge_schemas([*(each.schema for each in below), version.schema])
    except SchemaConflictError as error:
        raise SchemaConflictError(
            f"version {version.number} of schema {version.name} contradicts those below it and is "
            f"refused: {error}",
            path=error.path,
        ) from error


class History:
    """The versions of one schema, each read once, since a number never gets another definition.

    `read` returns a version by number, after waiting while it is pending, or None if it is
    unusable. Threads may share a history without a lock; at worst two threads read the same
    number. Its size needs no bound, as a registry takes 10 000 versions in total.
    """

    def __init__(self, read: Callable[[int], SchemaVersion | None]) -> None:
        self._read = read
        self._known: dict[int, SchemaVersion | None] = {}
        self._agreed: tuple[int, tuple[SchemaVersion, ...]] = (0, ())

    def below(self, number: int) -> tuple[SchemaVersion, ...]:
        """Return the usable versions below a number, and read those that are not known yet."""
        for each in range(1, number):
            if each not in self._known:
                self._learn(each)
        return tuple(version for version in self._agree() if version.number < number)

    def add(self, version: SchemaVersion) -> None:
        """Add an available version that the caller has read."""
        self._known[version.number] = version

    def _learn(self, number: int) -> None:
        try:
            self._known[number] = self._read(number)
        except SchemaNotFoundError:
            # Deleted or not visible yet: it is read again next time, as it may become visible.
            return

    def _agree(self) -> tuple[SchemaVersion, ...]:
        count, agreed = self._agreed
        known = [version for version in self._known.copy().values() if version is not None]
        if len(known) != count:
            agreed = agree(known)
            self._agreed = (len(known), agreed)
        return agreed
