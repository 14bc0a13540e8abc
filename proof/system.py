"""One system under the changes, with the readers of what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from proof.change import Row
from systems.place import Place
from systems.worker import Worker


class Tables(Protocol):
    """A reader of a system's tables."""

    def read(self, change: str) -> Sequence[Row]:
        """Return the rows of a change's table."""


class Letters(Protocol):
    """A reader of a system's dead letters."""

    def read(self, change: str) -> Sequence[bytes]:
        """Return the bytes of a change's dead letters."""


class System(Protocol):
    """A system that reads a topic and writes a table for each change, in streams of their own."""

    @property
    def tables(self) -> Tables:
        """The reader of its tables."""

    @property
    def letters(self) -> Letters:
        """The reader of its dead letters."""

    def start(self, changes: Sequence[str]) -> None:
        """Start a stream for each change."""

    def why_ended(self, change: str) -> str:
        """Return why the stream of a change ended by itself, or nothing if it runs."""

    def restart(self, change: str) -> None:
        """Start a stream again that ended."""

    def describe_trouble(self, change: str) -> str:
        """Return the last error of a stream that runs or tries to, for the page alone."""

    def close(self) -> None:
        """End all streams and processes."""


@dataclass(slots=True)
class WorkerSystem:
    """The part of a system whose streams are all in one process that is asked for them."""

    place: Place
    _worker: Worker = field(init=False)

    def start(self, changes: Sequence[str]) -> None:
        """Start a stream for each change."""
        for each in changes:
            self.restart(each)

    def why_ended(self, change: str) -> str:
        """Return the error that ended a stream."""
        return self._worker.ask("why_ended", change=change)

    def restart(self, change: str) -> None:
        """Start a stream, from its checkpoint if it has one."""
        self._worker.ask("start", change=change)

    def close(self) -> None:
        """End the process."""
        self._worker.close()
