"""Traps that kill or stop a Spark job at one of its calls to AWS, and the moments of a batch."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from localcloud.door.operations import Call, HttpAnswer


@dataclass(frozen=True)
class Step:
    """A call that the job makes on its way: any, one of an operation, or one at a place."""

    operation: str = ""
    place: str = ""

    def fits(self, call: Call) -> bool:
        """Whether a call is this one."""
        if self.operation not in {"", call.operation}:
            return False
        return re.search(self.place, _find_place(call)) is not None


def _find_place(call: Call) -> str:
    """Give the key of a call of S3, the tables of a call of DynamoDB, or nothing."""
    tables = call.params.get("RequestItems") or [call.params.get("TableName", "")]
    return str(call.params.get("Key", "")) if call.service == "s3" else " ".join(tables)


@dataclass
class Trap:
    """Kills a job at the last of some steps, which it takes in their order.

    `performed` says whether that call has its effect; its answer reaches nobody. With `pause` the
    call is answered, and the job lives on for so many seconds. A trap that `stops` the job answers
    it when it goes on. One for an `executor` kills the job's only one, and the driver lives.
    """

    steps: Sequence[Step] = ()
    performed: bool = False
    pause: float | None = None
    stops: bool = False
    executor: bool = False
    kill: Callable[[], None] = lambda: None
    calls: list[str] = field(default_factory=list)
    shut: threading.Event = field(default_factory=threading.Event)
    _taken: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def snapped(self) -> bool:
        """Whether the last step was taken."""
        return 0 < len(self.steps) == self._taken

    def around(self, call: Call, perform: Callable[[], HttpAnswer]) -> HttpAnswer | None:
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
        with self._lock:
            self.calls.append(f"{call.operation} {_find_place(call)}")
            if self.snapped or self.steps == () or not self.steps[self._taken].fits(call):
                return False
            self._taken += 1
            return self.snapped


OFFSETS: Final = Step("PutObject", r"/offsets/\d+$")
FILE: Final = Step("PutObject", r"/data/.*\.parquet$")
_LOOKUP: Final = Step("PutObject", r"/penstock-ledger/.*\.jsonl$")
_SNAPSHOT: Final = Step("PutObject", r"/metadata/snap-")
_STAGED: Final = Step("UpdateTable")
_PUBLISHED: Final = Step("UpdateTable")
_DONE: Final = Step("PutObject", r"/commits/\d+$")
# The steps of the consuming job to each moment of a batch, and whether the last of them has its
# effect. A lookup says that the batch brings a version that is new, whose records are a part of
# their own.
MOMENTS: Final[Mapping[str, tuple[Sequence[Step], bool]]] = {
    "after the offsets": ((OFFSETS,), True),
    "amid the files of a part": ((OFFSETS, _LOOKUP, FILE), True),
    "after the files, before they are staged": ((OFFSETS, _LOOKUP, _SNAPSHOT, _STAGED), False),
    "after they are staged, before they are published": (
        (OFFSETS, _LOOKUP, _SNAPSHOT, _STAGED, _PUBLISHED), False
    ),
    "after the tables, before Spark's commit": ((OFFSETS, _DONE), False),
    "after Spark's commit": ((OFFSETS, _DONE), True),
    "after they are published, before the other table": (
        (OFFSETS, _LOOKUP, _SNAPSHOT, _STAGED, _PUBLISHED), True
    ),
}  # fmt: skip
