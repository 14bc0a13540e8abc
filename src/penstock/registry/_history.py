"""What this process has read of one schema's versions."""

from __future__ import annotations

from collections.abc import Callable

from penstock.errors import SchemaNotFoundError
from penstock.registry.agreement import agree
from penstock.registry.interface import SchemaVersion


class History:
    """The versions of one schema, each read once: a number never gets another definition.

    Threads may share one without a lock: the worst that can happen is that two read the same
    number. It needs no bound of its own, as a registry takes 10 000 versions in all.
    """

    def __init__(self, read: Callable[[int], SchemaVersion | None]) -> None:
        """Begin empty; `read` waits while a version is pending, None says it is unusable."""
        self._read = read
        self._known: dict[int, SchemaVersion | None] = {}
        self._agreed: tuple[int, tuple[SchemaVersion, ...]] = (0, ())

    def below(self, number: int) -> tuple[SchemaVersion, ...]:
        """Give the usable versions below a number, reading those not yet seen."""
        for each in range(1, number):
            if each not in self._known:
                self._learn(each)
        return tuple(version for version in self._agree() if version.number < number)

    def add(self, version: SchemaVersion) -> None:
        """Keep an available version that was read another way."""
        self._known[version.number] = version

    def _learn(self, number: int) -> None:
        try:
            self._known[number] = self._read(number)
        except SchemaNotFoundError:
            # Deleted, or not yet visible: a gap is asked for again, as it may close.
            return

    def _agree(self) -> tuple[SchemaVersion, ...]:
        count, agreed = self._agreed
        known = [version for version in self._known.copy().values() if version is not None]
        if len(known) != count:
            agreed = agree(known)
            self._agreed = (len(known), agreed)
        return agreed
