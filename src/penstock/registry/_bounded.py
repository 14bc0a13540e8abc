"""A dictionary with a bound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class BoundedMap(Generic[_Key, _Value]):
    """Keeps the most recently used entries up to its capacity; threads may share one."""

    def __init__(self, capacity: int) -> None:
        """Begin empty."""
        self._capacity = capacity
        self._entries: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: _Key) -> _Value | None:
        """Give what is kept for a key, and count it as just used."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key]

    def put(self, key: _Key, value: _Value) -> None:
        """Keep a value, and let go of the one unused for longest when that is one too many."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > self._capacity:
                self._entries.popitem(last=False)

    def __len__(self) -> int:
        """Count the entries."""
        return len(self._entries)
