"""One system under the changes, with the readers of what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from proof.change import Row


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
