"""Fault injection: failures of calls, before or after their effect.

    POST /_localcloud/add-fault {"kind": "throttle", "service": "glue", "calls": 3}
    POST /_localcloud/add-fault {"kind": "error", "service": "s3", "code": "X", "status": 503}
    POST /_localcloud/add-fault {"kind": "latency", "seconds": 2, "probability": 0.1, "seed": 7}
    POST /_localcloud/clear-faults {}

A fault applies to the calls of its service, operation and account; one that is left out means all.
It affects the next `calls` of them, or each with a probability, decided by the seed. The oldest
fault that applies to a call decides; latencies add up.
"""

from __future__ import annotations

import itertools
import math
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any, TypeAlias

from botocore import session as botocore_session

from localcloud.cloud import Cloud
from localcloud.door.control import action
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer
from localcloud.door.service import ErrorCode
from localcloud.door.services import find_service
from localcloud.faults.partial_batch import BATCHES, answer_in_part

MAX_SECONDS = 900.0


class Kind(StrEnum):
    """The effect of a fault on a call."""

    THROTTLE = "throttle"  # refuse it with its service's throttling error
    ERROR = "error"  # refuse it with a code and a status
    LATENCY = "latency"  # delay the answer
    MEET = "meet"  # hold it until another such call has come, then perform both
    HANG = "hang"  # hold it without effect, then cut the connection
    CUT = "cut"  # perform it, then cut the connection instead of answering
    CHUNKED = "chunked"  # answer in chunks, as a proxy may, without Content-Length
    UNPROCESSED = "unprocessed"  # leave items of a DynamoDB batch unprocessed


_HOLDS = (Kind.LATENCY, Kind.MEET)  # these delay a call; the others end it in another way


@dataclass(slots=True)
class Fault:
    """One fault, the number of calls it has affected, and how many pairs of them have met."""

    number: int
    kind: Kind
    service: str | None = None
    operation: str | None = None
    account: str | None = None
    calls: int | None = None
    probability: float = 1.0
    seed: int = 0
    code: str = "InternalFailure"
    status: int = 500
    seconds: float = 0.0
    items: int = 1
    containing: str = ""
    broken: int = 0
    met: int = 0
    _random: random.Random = field(init=False, repr=False)
    _pair: threading.Barrier = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Seed the decisions: the same seed gives the same series."""
        self._random = random.Random(self.seed)  # noqa: S311 - no secret
        self._pair = threading.Barrier(2)

    def breaks(self, call: Call) -> bool:
        """Return whether this call is affected, and count it."""
        met = (
            self.service in {None, call.service}
            and self.operation in {None, call.operation}
            and self.account in {None, call.account}
            and (self.kind is not Kind.UNPROCESSED or call.operation in BATCHES)
        )
        used_up = self.calls is not None and self.broken >= self.calls
        if not met or used_up or self._random.random() >= self.probability:
            return False
        self.broken += 1
        return True

    def hold(self, cleared: threading.Event) -> None:
        """Wait as the kind of fault says before the call is performed, if it is to be at all."""
        if self.kind is Kind.LATENCY:
            cleared.wait(self.seconds)
        elif self.kind is Kind.MEET:
            try:
                self.met += self._pair.wait(self.seconds or MAX_SECONDS) == 0  # for one of both
            except threading.BrokenBarrierError:  # no other call came in this time
                self._pair.reset()

    def release(self) -> None:
        """Let the call go that waits for another one."""
        self._pair.abort()

    def describe(self) -> dict[str, Any]:
        """Return the fault as it was set, the number of calls it affected, and of their pairs."""
        shown = ("number", "kind", "service", "operation", "account", "calls", "probability")
        return {name: getattr(self, name) for name in (*shown, "seed", "broken", "met")}


Performed: TypeAlias = Callable[[], HttpAnswer | None]
Wrapper: TypeAlias = Callable[[Call, Performed], HttpAnswer | None]


class Faults:
    """The faults that are set; every call passes through them."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._numbers = itertools.count(1)
        self._wrappers: tuple[Wrapper, ...] = ()
        self._lock = threading.Lock()
        self._cleared = threading.Event()

    def add(self, **settings: Any) -> Fault:
        """Add a fault."""
        with self._lock:
            fault = Fault(next(self._numbers), **settings)
            self._faults.append(fault)
            return fault

    def list(self) -> list[Fault]:
        """Return the faults that are set."""
        with self._lock:
            return list(self._faults)

    def clear(self) -> int:
        """Remove all faults, release the calls that they hold, and return how many there were."""
        with self._lock:
            count = len(self._faults)
            for fault in self._faults:
                fault.release()
            self._faults.clear()
            self._cleared.set()
            self._cleared = threading.Event()
            return count

    @contextmanager
    def wrapped(self, wrapper: Wrapper) -> Iterator[None]:
        """Let each call pass through a function as long as the block lasts, faults and all."""
        with self._lock:
            self._wrappers += (wrapper,)
        try:
            yield
        finally:
            with self._lock:
                self._wrappers = tuple(each for each in self._wrappers if each is not wrapper)

    def around(self, call: Call, perform: Callable[[], HttpAnswer]) -> HttpAnswer | None:
        """Perform the call unless a fault applies; return None for no answer.

        Raises:
            AwsError: a fault refuses the call.
        """
        performed: Performed = partial(self._perform, call, perform)
        for wrapper in self._wrappers:
            performed = partial(wrapper, call, performed)
        return performed()

    def _perform(self, call: Call, perform: Callable[[], HttpAnswer]) -> HttpAnswer | None:
        with self._lock:
            cleared = self._cleared
            met = [fault for fault in self._faults if fault.breaks(call)]
        for fault in met:
            fault.hold(cleared)
        breaking = next((fault for fault in met if fault.kind not in _HOLDS), None)
        if breaking is None:
            return perform()
        return _break(breaking, call, perform, cleared)


def _break(
    fault: Fault, call: Call, perform: Callable[[], HttpAnswer], cleared: threading.Event
) -> HttpAnswer | None:
    match fault.kind:
        case Kind.THROTTLE:
            raise _throttle(call)
        case Kind.HANG:
            cleared.wait(fault.seconds or MAX_SECONDS)
            return None
        case Kind.CUT:
            perform()
            return None
        case Kind.CHUNKED:
            answer = perform()
            return replace(answer, headers=(*answer.headers, ("Transfer-Encoding", "chunked")))
        case Kind.UNPROCESSED:
            return answer_in_part(call, perform, fault.items, fault.containing)
    said = f"fault {fault.number} was set for this call"
    raise AwsError(fault.code, said, status=fault.status)


def _throttle(call: Call) -> AwsError:
    """Return the service's error, or the usual one of its protocol: assumption `throttle-codes`."""
    usual = ErrorCode("ThrottlingException" if "json" in call.protocol else "Throttling", 400)
    code, status = find_service(call.service).throttle or usual
    return AwsError(code, "Rate exceeded", status=status)


@action("add-fault")
def add_fault(  # noqa: PLR0913 - one parameter per member of the JSON object
    cloud: Cloud,
    *,
    kind: str,
    service: str | None = None,
    operation: str | None = None,
    account: str | None = None,
    calls: int | None = None,
    probability: float = 1.0,
    seed: int = 0,
    code: str = "InternalFailure",
    status: int = 500,
    seconds: float = 0.0,
    items: int = 1,
    containing: str = "",
) -> dict[str, Any]:
    """Set a fault: kind throttle, error, latency, meet, hang, cut, chunked or unprocessed.

    service, operation, account: which calls; left out = all
    calls: how many; left out = all   probability, seed: which of them
    code, status: of an error   seconds: of latency or hang; the longest of meet
    items, containing: how many items of a batch, or those with this text, stay undone
    """
    settings = {name: value for name, value in locals().items() if name != "cloud"}
    if kind not in set(Kind):
        raise ValueError(f"kind is {kind!r}, expected one of {', '.join(Kind)}")
    _check_target(service, operation)
    _check_range("probability", probability, 0, 1)
    _check_range("seconds", seconds, 0, MAX_SECONDS)
    _check_range("status", status, 400, 599)
    _check_range("calls", 1 if calls is None else calls, 1, math.inf)
    _check_range("items", items, 1, math.inf)
    return cloud.state(Faults).add(**settings | {"kind": Kind(kind)}).describe()


@action("list-faults")
def list_faults(cloud: Cloud) -> list[dict[str, Any]]:
    """List the faults that are set, the number of calls each affected, and of pairs that met."""
    return [fault.describe() for fault in cloud.state(Faults).list()]


@action("clear-faults")
def clear_faults(cloud: Cloud) -> dict[str, Any]:
    """Remove all faults and release the calls that they hold."""
    return {"cleared": cloud.state(Faults).clear()}


def _check_target(service: str | None, operation: str | None) -> None:
    loader = botocore_session.get_session()
    if service is not None and service not in loader.get_available_services():
        raise ValueError(f"found no service {service!r}, expected a name of boto3")
    if operation is None:
        return
    if service is None:
        raise ValueError(f"operation {operation!r} needs its service")
    if operation not in loader.get_service_model(service).operation_names:
        raise ValueError(
            f"found no operation {operation!r} of {service}, expected a name of its API"
        )


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}, expected {low} to {high}")
