"""One call for all threads that ask for the same key at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

_Result = TypeVar("_Result")


class SingleFlight:
    """Lets the first thread that asks for a key make the call; the others wait for its result."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, Future[Any]] = {}

    def run(self, key: Hashable, call: Callable[[], _Result]) -> tuple[_Result, bool]:
        """Return the result and whether this thread made the call.

        An error of the call is raised in all waiting threads. A call must not ask for its own
        key: it would wait for itself.
        """
        with self._lock:
            outcome = self._under_way.get(key)
            leads = outcome is None
            if outcome is None:
                outcome = self._under_way[key] = Future()
        if not leads:
            return outcome.result(), False
        try:
            result = call()
        except BaseException as error:
            self._land(key)
            outcome.set_exception(error)
            raise
        self._land(key)
        outcome.set_result(result)
        return result, True

    def _land(self, key: Hashable) -> None:
        with self._lock:
            del self._under_way[key]
