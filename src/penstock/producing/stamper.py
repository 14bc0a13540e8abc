"""Base fields for events that do not bring them: the key and the event time."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.records import RowShape, find_key, make_base

_MOST_KEYS = 10_000
_MOST_MILLISECONDS_BACK = 60_000  # a clock that goes back further was wrong before


@dataclass(frozen=True, slots=True)
class StampedEvent:
    """An event as received, the time of receipt, and its base fields.

    A field of the event takes precedence over the base field of the same name. `is_parsed` says
    that `parse_event` returned the event, which is then not checked again.
    """

    event: Any
    base: Mapping[str, Any]
    timestamp: int
    is_parsed: bool = False


class Stamper:
    """Assigns base fields to events: a key, and a timestamp that increases strictly per key.

    Events without a key get `default_key`. Timestamps follow the clock when it is set back by more
    than a minute: its wrong time does not stay.
    """

    def __init__(self, shape: RowShape, default_key: str) -> None:
        self._shape = shape
        self._default_key = default_key
        # By hash: a key may have megabytes, and two with one hash only get later timestamps.
        self._last: dict[int, int] = {}
        self._floor = 0
        self._now = 0
        self._lock = threading.Lock()

    def stamp(self, event: Any, *, is_parsed: bool = False) -> StampedEvent:
        """Return the event with its base fields."""
        key = find_key(self._shape, event, self._default_key)
        timestamp = self._next(hash(key))
        return StampedEvent(event, make_base(self._shape, key, timestamp), timestamp, is_parsed)

    def _next(self, key: int) -> int:
        with self._lock:
            now = time.time_ns() // 1_000_000
            if now < self._now - _MOST_MILLISECONDS_BACK:
                self._last.clear()
                self._floor = 0
            self._now = now
            stamp = max(now, self._last.get(key, self._floor) + 1)
            if len(self._last) >= _MOST_KEYS:
                # Forget all keys, but keep their highest timestamp as the floor for new ones.
                self._floor = max(self._last.values())
                self._last.clear()
            self._last[key] = stamp
            return stamp
