"""The versions of a group in Apicurio by global id; Apicurio itself finds only the newest ones.

A pass lists the artifacts and reads one after another until the id is found. The next look-up
continues the pass where the last one stopped. An id that a complete pass did not find is not looked
up again. Threads take turns, each for one call, and no thread waits longer than its own deadline.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from penstock.errors import RegistryAnswerError, RegistryUnavailableError, SchemaNotFoundError
from penstock.registry._http_client import reading_answer

# The pause between passes that do not find their id, so that many unknown ids cause few passes.
_PASS_SECONDS: Final = 30.0
_MOST_ARTIFACTS = 1_000_000  # whose names are kept in memory


class GroupIndex:
    """The schema and the metadata of versions by global id; safe to share between threads.

    `list_names` returns the names of the group's schemas, and `list_metas` the metadata of all
    versions of a schema. The iterator of names must be usable after an error.
    """

    def __init__(
        self,
        list_names: Callable[[], Iterator[str]],
        list_metas: Callable[[str], Iterable[Any]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._list_names = list_names
        self._list_metas = list_metas
        self._clock = clock
        self._found: dict[int, tuple[str, Any]] = {}
        self._names: Iterator[str] | None = None  # the rest of the list, while a pass lists schemas
        self._unread: deque[str] = deque()  # schemas that the pass has listed and not read
        self._newest_covered = -1  # ids grow: the pass covers all ids up to this one
        self._began = self._failed_pass_began = float("-inf")
        self._turns = threading.Condition()
        self._is_busy = False  # a thread makes its call

    def __contains__(self, number: int) -> bool:
        """Return whether the version with this id is known."""
        return number in self._found

    def read(self, name: str) -> None:
        """Read the versions of a schema, unless it was deleted."""
        try:
            for meta in self._list_metas(name):
                with reading_answer():
                    self._found[int(meta["globalId"])] = name, meta
        except SchemaNotFoundError:
            pass

    def find(self, number: int, deadline: float) -> tuple[str, Any] | None:
        """Return the schema and the metadata of an id, or None if no schema of the group has it.

        Raises:
            RegistryUnavailableError: the deadline has passed; the next look-up continues the pass.
        """
        is_continued = True
        while is_continued and self._wait_for_turn(number, deadline):
            try:
                is_continued = self._advance(number)
            finally:
                self._end_turn()
        return self._found.get(number)

    def _wait_for_turn(self, number: int, deadline: float) -> bool:
        """Wait until no other thread makes a call; return False if the id is known by then."""
        with self._turns:
            self._turns.wait_for(
                lambda: not self._is_busy or number in self._found,
                max(0.0, deadline - self._clock()),
            )
            if number in self._found:
                return False
            if self._is_busy or self._clock() >= deadline:
                raise RegistryUnavailableError(
                    f"the artifact of global id {number} was not found in time, at least "
                    f"{len(self._unread)} artifacts are left to read"
                )
            self._is_busy = True
            return True

    def _end_turn(self) -> None:
        with self._turns:
            self._is_busy = False
            self._turns.notify_all()

    def _advance(self, number: int) -> bool:
        """Make the next call of the pass; return False if no call is left that can find this id."""
        if self._names is not None:
            self._list_next(self._names)
            return True
        if self._unread:
            name = self._unread.popleft()
            try:
                self.read(name)
            except BaseException:
                self._unread.append(name)  # at the end, so that its error does not block the others
                raise
            return True
        return self._begin_pass(number)

    def _list_next(self, names: Iterator[str]) -> None:
        name = next(names, None)
        if name is None:
            self._names = None
            return
        self._unread.append(name)
        if len(self._unread) > _MOST_ARTIFACTS:
            self._names, self._newest_covered = None, -1
            self._unread.clear()
            raise RegistryAnswerError(
                f"the registry lists more than {_MOST_ARTIFACTS} artifacts in the group, "
                "expected fewer; select those to read by an allow-list"
            )

    def _begin_pass(self, number: int) -> bool:
        """Begin another pass if this id needs one and may have one; return whether it began."""
        if number <= self._newest_covered:
            self._failed_pass_began = self._began
            return False
        now = self._clock()
        if now < self._failed_pass_began + _PASS_SECONDS:
            return False
        self._names, self._began, self._newest_covered = self._list_names(), now, number
        return True
