"""Clients that a function builds at its start, and again after a snapshot of it is restored.

A snapshot (Lambda SnapStart) holds the memory of an initialized function. It is restored days
later, and any number of times: its connections are closed, its keys have expired, and what it drew
at random is the same in each environment.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Generic, TypeVar

from penstock.credentials import forget_sessions

_Built = TypeVar("_Built")


class Rebuilt(Generic[_Built]):
    """A value that is built now, and again by `rebuild`."""

    def __init__(self, build: Callable[[], _Built]) -> None:
        self._build = build
        self.value = build()

    def rebuild(self) -> None:
        """Build the value with new sessions at AWS; pauses are drawn from another seed."""
        random.seed()
        forget_sessions()
        self.value = self._build()
