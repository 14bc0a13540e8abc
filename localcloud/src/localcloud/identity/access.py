"""The actions and resources that IAM must allow for a call, from the call's parameters.

A service says in `resources` of its descriptor how its calls name theirs: by one of `by_action`,
`by_parameter` and `on_everything`, or by a function of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from localcloud.door.operations import Call
from localcloud.identity.conditions import Context


@dataclass(frozen=True, slots=True)
class Access:
    """An action on a resource; None is a resource that is not known here.

    The context has the condition keys of this action, in addition to those of the call.
    """

    action: str
    resource: str | None
    context: Context = field(default_factory=dict)


# Of a call and its action in IAM: everything that the caller must be allowed.
Resources: TypeAlias = Callable[[Call, str], Iterable[Access]]
# Of a call: the ARN of each role that the caller passes, with the service that gets it.
PassedRoles: TypeAlias = Callable[[Call], Iterable[tuple[str, str]]]


def by_action(_call: Call, action: str) -> Iterator[Access]:
    """Yield the action alone: the resources of the service are not known here."""
    yield Access(action, None)


def on_everything(_call: Call, action: str) -> Iterator[Access]:
    """Yield the action on everything: the actions of the service have no resources in IAM."""
    yield Access(action, "*")


def by_parameter(*ends: tuple[str, str]) -> Resources:
    """Return the resources of a service whose calls name one by a parameter.

    Each is a parameter and the end of the resource's ARN, with {} for the value. The first present
    parameter counts, and a value that is an ARN stays unchanged.
    """

    def list_resources(call: Call, action: str) -> Iterator[Access]:
        named = ((call.params[name], end) for name, end in ends if call.params.get(name))
        value, end = next(named, (None, ""))
        yield Access(action, arn_of(call, value, end) if value else None)

    return list_resources


def arn_of(call: Call, value: str, end: str = "{}") -> str:
    """Return the ARN of a resource of the caller's account; an ARN stays unchanged."""
    if value.startswith("arn:"):
        return value
    return f"arn:aws:{call.service}:{call.region}:{call.account}:{end.format(value)}"


def role_in(path: tuple[str, ...], service: str, *operations: str) -> PassedRoles:
    """Return the role of operations that pass one: the path to its parameter, and who gets it."""

    def list_roles(call: Call) -> Iterator[tuple[str, str]]:
        if call.operation in operations:
            yield str(find_param(call, path) or ""), service

    return list_roles


def no_role(_call: Call) -> Iterable[tuple[str, str]]:
    """Return no role: no operation passes one."""
    return ()


def find_param(call: Call, path: tuple[str, ...]) -> Any:
    """Return a parameter by the names that lead there, None if one is missing."""
    found: Any = call.params
    for name in path:
        found = (found or {}).get(name)
    return found
