"""The registry of operations: one Python function per AWS operation.

    @operation("kafka", "DescribeCluster")
    def describe_cluster(call: Call) -> dict[str, Any]:
        ...

The function gets the call with its parameters named as in boto3. It returns the result as boto3
shows it, or raises AwsError. It may do its own part and let moto answer (`return call.forward()`).
An operation without a function here goes to moto unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from localcloud.cloud import Cloud
    from localcloud.identity.callers import Caller


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer as it is sent."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class EndpointUse:
    """The VPC endpoint that a call passes; its policy limits what passes."""

    endpoint_id: str
    vpc_id: str
    policy: str = field(repr=False)


@dataclass(slots=True)
class Call:
    """One call of an AWS operation, and what it may use."""

    cloud: Cloud
    caller: Caller
    service: str
    operation: str
    params: dict[str, Any] = field(repr=False)
    forward: Callable[[], HttpAnswer] = field(repr=False)
    body: bytes = field(default=b"", repr=False)  # forwarded to moto
    protocol: str = "json"
    agent: str = ""  # the calling program, from its User-Agent
    owner: str = ""  # the account that owns the resource; moto is asked in it
    endpoint: EndpointUse | None = None  # None: the call does not come from a VPC

    @property
    def account(self) -> str:
        """The account that the caller's credentials belong to."""
        return self.caller.account

    @property
    def name(self) -> str:
        """The operation as IAM writes it: service:Operation."""
        return f"{self.service}:{self.operation}"

    @property
    def region(self) -> str:
        """The region that the request was signed for."""
        return self.caller.region


Operation: TypeAlias = Callable[[Call], dict[str, Any] | HttpAnswer]

_OPERATIONS: dict[tuple[str, str], Operation] = {}


def operation(service: str, name: str) -> Callable[[Operation], Operation]:
    """Register a function for one AWS operation, by boto3's service name and the API's name."""

    def register(function: Operation) -> Operation:
        if (service, name) in _OPERATIONS:
            raise ValueError(
                f"{service}:{name} has two handlers, the second in {function.__module__}"
            )
        _OPERATIONS[service, name] = function
        return function

    return register


def find_operation(service: str, name: str) -> Operation | None:
    """Return the function of an operation, None if localcloud has none of its own."""
    return _OPERATIONS.get((service, name))


def own_operations() -> list[tuple[str, str]]:
    """List every operation that localcloud answers itself."""
    return sorted(_OPERATIONS)
