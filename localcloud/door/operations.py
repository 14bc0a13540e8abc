"""How a service's operations are written: one Python function per AWS operation.

    @operation("kafka", "DescribeCluster")
    def describe_cluster(call: Call) -> dict[str, Any]:
        ...

The function gets the call, with its parameters named as in boto3, and returns the result as boto3
would show it, or raises AwsError. An operation may do its own part and let moto answer
(`return call.forward()`); what has no function here goes to moto as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from moto.core.exceptions import ServiceException

if TYPE_CHECKING:
    from localcloud.cloud import Cloud
    from localcloud.identity.callers import Caller


class AwsError(ServiceException):
    """An error as AWS answers it: a code of the service's model and a sentence."""

    def __init__(self, code: str, message: str, *, status: int | None = None) -> None:
        """Keep an HTTP status where the service's model has none for the code."""
        super().__init__(code, message)
        self.status = status


def not_implemented(operation: str) -> AwsError:
    """The answer to an operation, `service:Name`, that nobody here implements."""
    said = f"neither localcloud nor moto answers {operation}"
    return AwsError("NotImplemented", said, status=501)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer as it goes over the wire."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(slots=True)
class Call:
    """One call of an AWS operation, and what it may reach."""

    cloud: Cloud
    caller: Caller
    service: str
    operation: str
    params: dict[str, Any] = field(repr=False)
    forward: Callable[[], HttpAnswer] = field(repr=False)
    body: bytes = field(default=b"", repr=False)  # what is forwarded
    protocol: str = "json"
    agent: str = ""  # the program that calls, by its User-Agent
    owner: str = ""  # the account that the call is about, of which moto is asked

    @property
    def account(self) -> str:
        """The account that the caller's credentials belong to."""
        return self.caller.account

    @property
    def name(self) -> str:
        """The operation as IAM and people write it: service:Operation."""
        return f"{self.service}:{self.operation}"

    @property
    def region(self) -> str:
        """The region that the request was signed for."""
        return self.caller.region


Operation: TypeAlias = Callable[[Call], dict[str, Any] | HttpAnswer]

_OPERATIONS: dict[tuple[str, str], Operation] = {}


def operation(service: str, name: str) -> Callable[[Operation], Operation]:
    """Make a function the answer to one AWS operation, by boto3's service name and the API's."""

    def register(function: Operation) -> Operation:
        if (service, name) in _OPERATIONS:
            raise ValueError(f"{service}:{name} is answered twice, by {function.__module__} too")
        _OPERATIONS[service, name] = function
        return function

    return register


def find_operation(service: str, name: str) -> Operation | None:
    """Return the function that answers an operation, if it is one of localcloud's own."""
    return _OPERATIONS.get((service, name))


def own_operations() -> list[tuple[str, str]]:
    """List every operation that localcloud answers itself."""
    return sorted(_OPERATIONS)
