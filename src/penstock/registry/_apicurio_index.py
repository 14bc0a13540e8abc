"""The versions of a group of Apicurio by global id, by which Apicurio finds the newest ones only.

The artifacts are read one by one until the id is found, or all are read. The next look-up continues
where the last one stopped, and an id that a complete pass did not find is not looked for again.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from penstock.errors import RegistryUnavailableError, SchemaNotFoundError
from penstock.registry._http_client import reading_answer

# After a pass in vain, the next one waits this long: a flood of foreign ids costs few passes.
_PASS_SECONDS: Final = 30.0


class GroupIndex:
    """The schema and the metadata of versions by global id; safe to share between threads.

    `list_names` returns the schemas of the group, and `list_metas` the metadata of all versions of
    one. `seconds` is the time limit of a look-up.
    """

    def __init__(
        self,
        list_names: Callable[[], Iterable[str]],
        list_metas: Callable[[str], Iterable[Any]],
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._list_names = list_names
        self._list_metas = list_metas
        self._seconds = seconds
        self._clock = clock
        self._found: dict[int, tuple[str, Any]] = {}
        self._left: deque[str] = deque()  # the schemas that the pass has not read yet
        self._covered = -1  # ids grow, so all up to this one existed when the pass began
        self._began = self._began_in_vain = float("-inf")
        self._lock = threading.Lock()

    def __contains__(self, number: int) -> bool:
        """Return whether the version with this id is known."""
        return number in self._found

    def read(self, name: str) -> None:
        """Read the versions of a schema; none if it was deleted."""
        try:
            for meta in self._list_metas(name):
                with reading_answer():
                    self._found[int(meta["globalId"])] = name, meta
        except SchemaNotFoundError:
            pass

    def find(self, number: int) -> tuple[str, Any] | None:
        """Return the schema and the metadata of an id that exists, or None if no schema has it.

        Raises:
            RegistryUnavailableError: the time is up; the next look-up continues.
        """
        with self._lock:
            deadline = self._clock() + self._seconds
            while number not in self._found and self._has_left(number):
                if self._clock() >= deadline:
                    raise RegistryUnavailableError(
                        f"the artifact of global id {number} was not found within "
                        f"{self._seconds:g} s, {len(self._left)} artifacts are left to read"
                    )
                self.read(self._left[0])
                self._left.popleft()
            return self._found.get(number)

    def _has_left(self, number: int) -> bool:
        """Return whether a schema is left to read for this id; begin another pass if needed."""
        if self._left:
            return True
        if number <= self._covered:
            self._began_in_vain = self._began
            return False
        now = self._clock()
        if now < self._began_in_vain + _PASS_SECONDS:
            return False
        self._left = deque(self._list_names())
        self._began, self._covered = now, number
        return self._has_left(number)
