"""Traps that kill or stop a Spark job at one of its calls to AWS."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from localcloud.door.operations import Call, HttpAnswer
from localcloud.faults import Performed


@dataclass(frozen=True)
class Step:
    """A call that the job makes on its way: any, one of an operation, or one at a place."""

    operation: str = ""
    place: str = ""

    def fits(self, call: Call) -> bool:
        """Return whether a call is this one."""
        if self.operation not in {"", call.operation}:
            return False
        return re.search(self.place, _find_place(call)) is not None


def _find_place(call: Call) -> str:
    """Return the key of a call to S3, the tables and key of a call to DynamoDB, else no text."""
    key = call.params.get("Key", "")
    if call.service == "s3":
        return str(key)
    tables = call.params.get("RequestItems") or [call.params.get("TableName", "")]
    return " ".join([*tables, *(str(value) for it in dict(key).values() for value in it.values())])


@dataclass
class Trap:
    """Kills a job at the last of some steps, which it takes in their order.

    `performed` says whether that call has its effect; its answer reaches nobody. With `pause` the
    call is answered, and the job lives on for so many seconds. A trap that `stops` the job answers
    it when it goes on. One for an `executor` kills the job's only one, and the driver lives. With
    a `program` of jobs/, calls of others are no steps.
    """

    steps: Sequence[Step] = ()
    performed: bool = False
    pause: float | None = None
    stops: bool = False
    executor: bool = False
    program: str = ""
    kill: Callable[[], None] = lambda: None
    calls: list[str] = field(default_factory=list)
    shut: threading.Event = field(default_factory=threading.Event)
    _taken: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def snapped(self) -> bool:
        """Return whether the last step was taken."""
        return 0 < len(self.steps) == self._taken

    def around(self, call: Call, perform: Performed) -> HttpAnswer | None:
        """Perform a call of the job, unless it dies before; None stands for no answer."""
        if not self._is_last(call):
            return perform()
        if self.pause is not None:
            threading.Timer(self.pause, self.kill).start()
            return perform()
        answer = perform() if self.performed else None
        self.kill()
        self.shut.set()
        return answer if self.stops else None

    def _is_last(self, call: Call) -> bool:
        if not call.caller.arn.endswith(self.program):
            return False
        with self._lock:
            self.calls.append(f"{call.operation} {_find_place(call)}")
            if self.snapped or self.steps == () or not self.steps[self._taken].fits(call):
                return False
            self._taken += 1
            return self.snapped
