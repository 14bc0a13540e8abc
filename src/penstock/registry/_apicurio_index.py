"""The versions of a group of Apicurio by global id, by which Apicurio finds the newest ones only.

The artifacts are listed and read one by one until the id is found, or all are read. The next
look-up continues where the last one stopped, and an id that a complete pass did not find is not
looked for again. Threads take turns, a call each, and none waits beyond its own deadline.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from penstock.errors import RegistryAnswerError, RegistryUnavailableError, SchemaNotFoundError
from penstock.registry._http_client import reading_answer

# After a pass in vain, the next one waits this long: a flood of foreign ids costs few passes.
_PASS_SECONDS: Final = 30.0
_MOST_ARTIFACTS = 1_000_000  # of which the names are in memory


class GroupIndex:
    """The schema and the metadata of versions by global id; safe to share between threads.

    `list_names` returns the schemas of the group, and `list_metas` the metadata of all versions of
    one. An iterator over names continues after an error of a call.
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
        self._names: Iterator[str] | None = None  # those that the pass has not listed yet
        self._left: deque[str] = deque()  # the schemas that the pass has not read yet
        self._covered = -1  # ids grow, so all up to this one existed when the pass began
        self._began = self._began_in_vain = float("-inf")
        self._turns = threading.Condition()
        self._is_taken = False  # a thread is at its turn

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

    def find(self, number: int, deadline: float) -> tuple[str, Any] | None:
        """Return the schema and the metadata of an id that exists, or None if no schema has it.

        Raises:
            RegistryUnavailableError: the time is up; the next look-up continues.
        """
        has_left = True
        while has_left and self._wait_for_turn(number, deadline):
            try:
                has_left = self._step(number)
            finally:
                self._end_turn()
        return self._found.get(number)

    def _wait_for_turn(self, number: int, deadline: float) -> bool:
        """Wait until no other thread is at its turn; return False once the id is known."""
        with self._turns:
            self._turns.wait_for(
                lambda: not self._is_taken or number in self._found,
                max(0.0, deadline - self._clock()),
            )
            if number in self._found:
                return False
            if self._is_taken or self._clock() >= deadline:
                raise RegistryUnavailableError(
                    f"the artifact of global id {number} was not found in time, at least "
                    f"{len(self._left)} artifacts are left to read"
                )
            self._is_taken = True
            return True

    def _end_turn(self) -> None:
        with self._turns:
            self._is_taken = False
            self._turns.notify_all()

    def _step(self, number: int) -> bool:
        """List a schema, or else read one; return False if none is left for this id."""
        if self._names is not None:
            self._list_next(self._names)
            return True
        if self._left:
            name = self._left.popleft()
            try:
                self.read(name)
            except BaseException:
                self._left.append(name)  # after the others, which it does not hold up
                raise
            return True
        return self._begin(number)

    def _list_next(self, names: Iterator[str]) -> None:
        name = next(names, None)
        if name is None:
            self._names = None
            return
        self._left.append(name)
        if len(self._left) > _MOST_ARTIFACTS:
            self._names, self._covered = None, -1
            self._left.clear()
            raise RegistryAnswerError(
                f"the registry lists more than {_MOST_ARTIFACTS} artifacts in the group, "
                "expected fewer, of which an allow-list selects those to read"
            )

    def _begin(self, number: int) -> bool:
        """Begin another pass if this id needs one; return whether it does."""
        if number <= self._covered:
            self._began_in_vain = self._began
            return False
        now = self._clock()
        if now < self._began_in_vain + _PASS_SECONDS:
            return False
        self._names, self._began, self._covered = self._list_names(), now, number
        return True
