"""What all services share: the state of each, kept by account and region, and how it all ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Cloud:
    """One running localcloud: where it answers, where it keeps its files, what its services hold.

    A service keeps its state in a class of its own and asks for the instance of an account and
    region; nothing else of a service is reached from another one but by that class's methods.
    """

    endpoint: str
    folder: Path
    _states: dict[tuple[type[Any], str, str], Any] = field(default_factory=dict, repr=False)
    _endings: list[Callable[[], None]] = field(default_factory=list, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def state(self, kind: type[T], account: str = "", region: str = "") -> T:
        """Return the one instance of `kind` for an account and region, made at first use."""
        with self._lock:
            key = (kind, account, region)
            if key not in self._states:
                self._states[key] = kind()
            found: T = self._states[key]
            return found

    def states(self, kind: type[T]) -> list[tuple[str, str, T]]:
        """List (account, region, state) for every instance of `kind` that exists."""
        with self._lock:
            return [
                (account, region, state)
                for (known, account, region), state in self._states.items()
                if known is kind
            ]

    def on_stop(self, end: Callable[[], None]) -> None:
        """Have `end` called when localcloud goes down, the newest first."""
        with self._lock:
            self._endings.append(end)

    def stop(self) -> None:
        """End what the services started: each once, whatever another one's end raises."""
        with self._lock:
            endings, self._endings = self._endings[::-1], []
        failures = []
        for end in endings:
            try:
                end()
            except Exception as error:
                failures.append(error)
        if failures:
            raise ExceptionGroup("not everything could be ended", failures)
