"""What a query learns about schemas while it runs: which batch learnt what, in which round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.errors import Reason
from penstock.registry import SchemaVersion


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the records of a version are given up."""

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a batch learnt in one round: versions, and by their ids those that nobody can use."""

    batch: int
    round: int
    versions: tuple[SchemaVersion, ...]
    refused: Mapping[str, Refusal] = field(default_factory=dict)


class Lessons:
    """The lessons of a query, for as long as its driver lives."""

    def __init__(self) -> None:
        """Know nothing."""
        self._lessons: dict[tuple[int, int], Lesson] = {}

    def before(self, batch: int) -> tuple[SchemaVersion, ...]:
        """Give the versions that were known when a batch began, in the order they were learnt."""
        return tuple(
            version
            for place in sorted(self._lessons)
            if place[0] < batch
            for version in self._lessons[place].versions
        )

    def lessons(self, batch: int) -> tuple[Lesson, ...]:
        """Give what a batch has learnt already, before it came again."""
        return tuple(self._lessons[place] for place in sorted(self._lessons) if place[0] == batch)

    def add(self, lesson: Lesson) -> None:
        """Learn a lesson, before any record is written that depends on it."""
        self._lessons[lesson.batch, lesson.round] = lesson

    def tidy(self, batch: int) -> None:
        """Forget what earlier batches refused: they are over, and ids nobody knows are endless."""
        for place, lesson in list(self._lessons.items()):
            if place[0] < batch and not lesson.versions:
                self._forget(place)

    def _forget(self, place: tuple[int, int]) -> None:
        del self._lessons[place]
