"""Faults on demand: what breaks a call on purpose, before or after its effect.

    POST /_localcloud/add-fault {"kind": "throttle", "service": "glue", "calls": 3}
    POST /_localcloud/add-fault {"kind": "error", "service": "s3", "code": "X", "status": 503}
    POST /_localcloud/add-fault {"kind": "latency", "seconds": 2, "probability": 0.1, "seed": 7}
    POST /_localcloud/clear-faults {}

A fault meets the calls of its service, operation and account, each of which may be left out for
all. It breaks the next `calls` of them, or each with a probability, decided from the seed. Of
several that meet a call the oldest breaks it; latencies add up.
"""

from __future__ import annotations

import itertools
import math
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from botocore import session as botocore_session

from localcloud.cloud import Cloud
from localcloud.door.control import action
from localcloud.door.operations import AwsError, Call, HttpAnswer
from localcloud.faults.partial_batch import BATCHES, answer_in_part

MAX_SECONDS = 900.0


class Kind(StrEnum):
    """What a fault does to a call."""

    THROTTLE = "throttle"  # refuse it in the words of its service
    ERROR = "error"  # refuse it with a code and a status
    LATENCY = "latency"  # answer it later
    HANG = "hang"  # hold it, without effect, then cut the connection
    CUT = "cut"  # perform it, then cut the connection instead of an answer
    UNPROCESSED = "unprocessed"  # leave items of a DynamoDB batch undone


@dataclass(slots=True)
class Fault:
    """One fault, and how many calls it still breaks."""

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
    _random: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Begin the same row of decisions for the same seed."""
        self._random = random.Random(self.seed)  # noqa: S311 - no secret

    def breaks(self, call: Call) -> bool:
        """Decide whether this call is broken, and count it."""
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

    def describe(self) -> dict[str, Any]:
        """Show it, as it was set and what it did."""
        shown = ("number", "kind", "service", "operation", "account", "calls", "probability")
        return {name: getattr(self, name) for name in (*shown, "seed", "broken")}


class Faults:
    """The faults that are set; a call goes around them."""

    def __init__(self) -> None:
        """Begin with none."""
        self._faults: list[Fault] = []
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._cleared = threading.Event()

    def add(self, **settings: Any) -> Fault:
        """Set one more."""
        with self._lock:
            fault = Fault(next(self._numbers), **settings)
            self._faults.append(fault)
            return fault

    def list(self) -> list[Fault]:
        """Return those that are set."""
        with self._lock:
            return list(self._faults)

    def clear(self) -> int:
        """Drop all, release the calls that are held, and return how many there were."""
        with self._lock:
            count = len(self._faults)
            self._faults.clear()
            self._cleared.set()
            self._cleared = threading.Event()
            return count

    def around(self, call: Call, perform: Callable[[], HttpAnswer]) -> HttpAnswer | None:
        """Perform the call, unless a fault for it says otherwise; None stands for no answer.

        Raises:
            AwsError: a fault refuses the call.
        """
        with self._lock:
            cleared = self._cleared
            met = [fault for fault in self._faults if fault.breaks(call)]
        cleared.wait(sum(fault.seconds for fault in met if fault.kind is Kind.LATENCY))
        breaking = next((fault for fault in met if fault.kind is not Kind.LATENCY), None)
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
        case Kind.UNPROCESSED:
            return answer_in_part(call, perform, fault.items, fault.containing)
    said = f"fault {fault.number} was set for this call"
    raise AwsError(fault.code, said, status=fault.status)


# How services say that they are called too often. Each service of localcloud's own has a row;
# those of moto are taken to say the usual of their protocol.
THROTTLES = {
    "application-autoscaling": ("ThrottlingException", 400),
    "athena": ("ThrottlingException", 400),
    "dynamodb": ("ProvisionedThroughputExceededException", 400),
    "ec2": ("RequestLimitExceeded", 503),
    "elbv2": ("Throttling", 400),
    "emr-serverless": ("ThrottlingException", 400),
    "glue": ("ThrottlingException", 400),
    "kafka": ("TooManyRequestsException", 429),
    "lambda": ("TooManyRequestsException", 429),
    "route53": ("Throttling", 400),
    "s3": ("SlowDown", 503),
    "secretsmanager": ("ThrottlingException", 400),
    "sts": ("Throttling", 400),
}


def _throttle(call: Call) -> AwsError:
    usual = "ThrottlingException" if "json" in call.protocol else "Throttling"
    code, status = THROTTLES.get(call.service, (usual, 400))
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
    """Break calls: kind throttle, error, latency, hang, cut or unprocessed.

    service, operation, account: which calls; left out = all
    calls: how many; left out = all   probability, seed: which of them
    code, status: of an error   seconds: of latency or hang
    items, containing: how many items of a batch, or those with this text, stay undone
    """
    settings = {name: value for name, value in locals().items() if name != "cloud"}
    if kind not in set(Kind):
        raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(Kind)}")
    _check_target(service, operation)
    _check_range("probability", probability, 0, 1)
    _check_range("seconds", seconds, 0, MAX_SECONDS)
    _check_range("status", status, 400, 599)
    _check_range("calls", 1 if calls is None else calls, 1, math.inf)
    _check_range("items", items, 1, math.inf)
    return cloud.state(Faults).add(**settings | {"kind": Kind(kind)}).describe()


@action("list-faults")
def list_faults(cloud: Cloud) -> list[dict[str, Any]]:
    """Show the faults that are set, and how many calls each has broken."""
    return [fault.describe() for fault in cloud.state(Faults).list()]


@action("clear-faults")
def clear_faults(cloud: Cloud) -> dict[str, Any]:
    """Drop all faults and let go of the calls that they hold."""
    return {"cleared": cloud.state(Faults).clear()}


def _check_target(service: str | None, operation: str | None) -> None:
    loader = botocore_session.get_session()
    if service is not None and service not in loader.get_available_services():
        raise ValueError(f"there is no service {service!r}; it is named as in boto3")
    if operation is None:
        return
    if service is None:
        raise ValueError(f"operation {operation!r} needs its service")
    if operation not in loader.get_service_model(service).operation_names:
        raise ValueError(f"{service} has no operation {operation!r}; it is named as in the API")


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}; it must be between {low} and {high}")
