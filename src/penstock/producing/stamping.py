"""What every event of a shape has, for those that do not bring it themselves."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.records import RowShape, find_key, make_base

_MOST_KEYS = 10_000


@dataclass(frozen=True, slots=True)
class StampedEvent:
    """An event as it came, when it came, and the base fields that it is given.

    Fields of the event win over those of its base.
    """

    event: Any
    base: Mapping[str, Any]
    timestamp: int


class Stamper:
    """Gives events their base fields: a key, and a time that no other event of the key has."""

    def __init__(self, shape: RowShape, default_key: str) -> None:
        self._shape = shape
        self._default_key = default_key
        self._last: dict[str, int] = {}
        self._floor = 0
        self._lock = threading.Lock()

    def stamp(self, event: Any) -> StampedEvent:
        """Give one event its base fields."""
        key = find_key(self._shape, event, self._default_key)
        timestamp = self._next(key)
        return StampedEvent(event, make_base(self._shape, key, timestamp), timestamp)

    def _next(self, key: str) -> int:
        with self._lock:
            now = time.time_ns() // 1_000_000
            stamp = max(now, self._last.get(key, self._floor) + 1)
            if len(self._last) >= _MOST_KEYS:
                # Forget them all, but not how late it was for the latest.
                self._floor = max(self._last.values())
                self._last.clear()
            self._last[key] = stamp
            return stamp
