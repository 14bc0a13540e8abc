"""The versions of one schema that this process has read."""

from __future__ import annotations

from collections.abc import Callable

from penstock.errors import SchemaNotFoundError
from penstock.registry._agreement import agree
from penstock.registry.interface import SchemaVersion


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
