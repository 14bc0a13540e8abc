"""Differences between what schema versions need and what a place has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference at one place; `column` is a path with dots.

    `advice` says what to do; it is empty if `penstock schema sync` does it. `count` is the number
    of partitions, files or rows that have it.
    """

    place: str
    column: str
    found: str
    expected: str
    advice: str = ""
    count: int = 1

    @property
    def is_safe(self) -> bool:
        """Return whether a sync of the table removes it."""
        return not self.advice
