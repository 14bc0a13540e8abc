"""The state that services share, by account and region, and the end of everything they started."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Cloud:
    """One running localcloud: its endpoint, its folder, and the state of its services.

    A service keeps its state in its own class and requests the instance of an account and region.
    Other services use only the methods of that class.
    """

    endpoint: str
    folder: Path
    _states: dict[tuple[type[Any], str, str], Any] = field(default_factory=dict, repr=False)
    _endings: list[Callable[[], None]] = field(default_factory=list, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def state(self, kind: type[T], account: str = "", region: str = "") -> T:
        """Return the one instance of `kind` for an account and region, created at first use."""
        with self._lock:
            key = (kind, account, region)
            if key not in self._states:
                self._states[key] = kind()
            found: T = self._states[key]
            return found

    def states(self, kind: type[T]) -> list[tuple[str, str, T]]:
        """List (account, region, state) for every existing instance of `kind`."""
        with self._lock:
            return [
                (account, region, state)
                for (known, account, region), state in self._states.items()
                if known is kind
            ]

    def on_stop(self, end: Callable[[], None]) -> None:
        """Register a function to call when localcloud stops, the newest first."""
        with self._lock:
            self._endings.append(end)

    def stop(self) -> None:
        """End what the services started, each once, even if another one raises."""
        with self._lock:
            endings, self._endings = self._endings[::-1], []
        failures = []
        for end in endings:
            try:
                end()
            except Exception as error:
                failures.append(error)
        if failures:
            raise ExceptionGroup("some parts of localcloud did not stop", failures)
