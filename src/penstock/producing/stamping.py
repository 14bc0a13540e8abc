"""What every event of a device has, for those that do not bring it themselves."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MOST_DEVICES = 10_000


@dataclass(frozen=True, slots=True)
class StampedEvent:
    """An event as it came, and the device and time it is given where it names none."""

    event: Any
    device_id: str
    timestamp: int

    @property
    def own(self) -> dict[str, Any]:
        """The base fields; those of the event win over them."""
        return {"deviceId": self.device_id, "timestamp": self.timestamp}


class Stamper:
    """Gives events a device and a time, in milliseconds and never the same twice per device."""

    def __init__(self, device_id: str) -> None:
        """Begin with no device known; `device_id` is for events that name none."""
        self._device_id = device_id
        self._last: dict[str, int] = {}
        self._floor = 0
        self._lock = threading.Lock()

    def stamp(self, event: Any) -> StampedEvent:
        """Give one event its device and time."""
        named = event.get("deviceId") if isinstance(event, Mapping) else None
        device = named if isinstance(named, str) else self._device_id
        return StampedEvent(event, device, self._next(device))

    def _next(self, device: str) -> int:
        with self._lock:
            now = time.time_ns() // 1_000_000
            stamp = max(now, self._last.get(device, self._floor) + 1)
            if len(self._last) >= _MOST_DEVICES:
                # Forget them all, but not how late it was for the latest.
                self._floor = max(self._last.values())
                self._last.clear()
            self._last[device] = stamp
            return stamp
