"""The steps of an event's way, as they were found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """The state of a step.

    `NONE` is a step that this event does not take, and `MISSING` one that it should have taken.
    """

    FOUND = "found"
    NONE = "none"
    MISSING = "missing"
    NOT_SEEN = "not seen"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the way: what was seen there, its values, and when it happened if that is known.

    `given_up` is true for a dead letter or rejected event that is open; `command` retries it.
    """

    name: str
    state: State
    seen: str
    values: Mapping[str, Any] = field(default_factory=dict)
    at_ms: int | None = None
    given_up: bool = False
    command: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps of one event, in their order."""

    id: str
    steps: tuple[Step, ...]

    @property
    def seconds(self) -> tuple[float | None, ...]:
        """Return for each step the time since the last one before it whose time is known."""
        found: list[float | None] = []
        last: int | None = None
        for each in self.steps:
            known = each.at_ms is not None and last is not None
            found.append((each.at_ms - last) / 1_000 if known else None)  # type: ignore[operator]
            last = each.at_ms if each.at_ms is not None else last
        return tuple(found)

    @property
    def is_open(self) -> bool:
        """Return whether the event was given up, or is not where it should be."""
        return any(each.given_up or each.state is State.MISSING for each in self.steps)
