"""Programs that take turns in simulated time: a seed decides whose turn it is.

A program gives up its turn only where it sleeps, so that every edge of the world sleeps. Nothing
else runs meanwhile, and a seed runs the same way again.
"""

from __future__ import annotations

import heapq
import random
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from greenlet import GreenletExit, getcurrent, greenlet

_EPOCH = 1_795_000_000.0
_LOOK_SECONDS = 1.0  # after which a program that stalls may be awake


@dataclass(eq=False)
class Program:
    """A program, with those that it has started; `skew` is how wrong its wall clock is."""

    name: str
    greenlet: greenlet
    skew: float = 0.0
    parent: Program | None = None  # unless it is its own
    children: set[Program] = field(default_factory=set)  # that have not ended
    is_killed: bool = False
    is_done: bool = False
    error: BaseException | None = None
    turn: int = 0  # of the entry in the queue that counts
    waits_for: Program | None = None
    stall_until: float = 0.0  # with its children; clocks go on

    @property
    def awake_at(self) -> float:
        """When it may go on, if it or one that started it stalls."""
        latest, program = self.stall_until, self.parent
        while program is not None:
            latest, program = max(latest, program.stall_until), program.parent
        return latest

    def kill(self) -> None:
        """End it as -9 does: it has no more turns, and nothing is cleaned up."""
        self.is_killed = True
        for child in self.children:
            child.kill()


class Scheduler:
    """Runs programs one at a time; `random` is the only source of chance."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = 0.0
        self.turns = 0
        self._main = getcurrent()
        self._until = 0.0
        self._is_closed = False
        self._queue: list[tuple[float, float, int, Program]] = []
        # Those that have not ended, killed ones too: Python would end what it collects early.
        self._programs: dict[greenlet, Program] = {}

    @property
    def current(self) -> Program | None:
        """The program whose turn it is."""
        return self._programs.get(getcurrent())

    def start(
        self,
        name: str,
        call: Callable[[], object],
        *,
        skew: float | None = None,
        is_own: bool = False,
    ) -> Program:
        """Start a program; unless it is its own, it ends with its parent and has its clock."""
        parent = None if is_own else self.current

        def run() -> None:
            try:
                call()
            except BaseException as error:
                program.error = error
            program.is_done = True
            del self._programs[program.greenlet]
            if parent is not None:
                parent.children.discard(program)
                if parent.waits_for is program:
                    self._enqueue(parent, self.now)

        if skew is None:
            skew = parent.skew if parent else 0.0
        program = Program(name, greenlet(run, self._main), skew, parent)
        self._programs[program.greenlet] = program
        if parent is not None:
            parent.children.add(program)
        self._enqueue(program, self.now)
        return program

    def sleep(self, seconds: float) -> None:
        """Let others have their turns until so much time has passed."""
        program = self.current
        if program is None:
            raise AssertionError("no program sleeps outside of the simulation")
        if self._is_closed:
            raise GreenletExit
        program.turn += 1
        queue, due = self._queue, self.now + max(0.0, seconds)
        entry = due, self.random.random(), program.turn, program
        if due <= self._until and not program.is_killed and (not queue or entry < queue[0]):
            self.now = due  # no other program has a turn before
            self.turns += 1
        else:
            heapq.heappush(queue, entry)
            self._main.switch()

    def wait(self, program: Program, seconds: float) -> bool:
        """Wait for a program that this one has started; return whether it ended in time."""
        waiting = self.current
        assert waiting is not None
        if not program.is_done:
            waiting.waits_for = program
            self.sleep(seconds)
            waiting.waits_for = None
        return program.is_done

    def run(self, until: float) -> None:
        """Give turns until the time has come.

        Raises:
            Exception: a program ended by it, and nothing waited for the program.
        """
        queue, self._until = self._queue, until
        while queue and queue[0][0] <= until:
            due, _, turn, program = heapq.heappop(queue)
            if program.is_killed or program.is_done or turn != program.turn:
                continue
            if (awake_at := program.awake_at) > due:
                self._enqueue(program, min(awake_at, due + _LOOK_SECONDS))
                continue
            self.now = max(self.now, due)
            self.turns += 1
            program.greenlet.switch()
            if program.is_done and program.error is not None and program.parent is None:
                raise program.error
        self.now = until

    def close(self) -> None:
        """End all programs; else Python could not collect what suspended ones hold, 5 MB an hour.

        What they do at their end has no effect, since each call of a service sleeps before it.
        """
        self._is_closed = True
        for each in list(self._programs):
            each.throw()

    def _enqueue(self, program: Program, due: float) -> None:
        program.turn += 1
        heapq.heappush(self._queue, (due, self.random.random(), program.turn, program))

    @contextmanager
    def instead_of_time(self) -> Iterator[None]:
        """Put simulated time and chance in the place of the real ones."""

        def wall_clock() -> float:
            program = self.current
            return _EPOCH + self.now + (program.skew if program else 0.0)

        def make_uuid() -> uuid.UUID:
            return uuid.UUID(int=self.random.getrandbits(128), version=4)

        with (
            patch.object(time, "sleep", self.sleep),
            patch.object(time, "monotonic", lambda: self.now),
            patch.object(time, "time", wall_clock),
            patch.object(time, "time_ns", lambda: int(wall_clock() * 1e9)),
            patch.object(uuid, "uuid4", make_uuid),
            patch.object(random, "uniform", self.random.uniform),
        ):
            yield
