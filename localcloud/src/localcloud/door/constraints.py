"""The constraints of a service's model on parameters: boto3 leaves most to the service."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias, TypeVar

from moto.core.utils import get_service_model

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation


class Locked(Protocol):
    """A state that one call at a time may use."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held by the call that uses it."""


S = TypeVar("S", bound=Locked)
_Answer: TypeAlias = Callable[[Call, S], dict[str, Any]]


def locked_operation(
    service: str, code: str, kind: type[S], name: str
) -> Callable[[_Answer[S]], _Answer[S]]:
    """Register a function for one operation: with checked parameters, one call at a time."""

    def register(function: _Answer[S]) -> _Answer[S]:
        @operation(service, name)
        @functools.wraps(function)
        def answer(call: Call) -> dict[str, Any]:
            check_params(call, code)
            state = call.cloud.state(kind, call.account, call.region)
            with state.lock:
                return function(call, state)

        return function

    return register


def check_params(call: Call, code: str) -> None:
    """Raise `code` for a parameter that is missing, too long, too short or against its pattern."""
    model = get_service_model(call.service).operation_model(call.operation)
    try:
        _check(model.input_shape, call.params, "")
    except _OutOfBoundsError as error:
        said = f"1 validation error detected: {error}"
        raise AwsError(code, said, status=400) from error


class _OutOfBoundsError(Exception):
    def __init__(self, value: object, path: str, expected: str) -> None:
        where = ".".join(name[:1].lower() + name[1:] for name in path.split(".") if name)
        failed = f"Value '{str(value)[:100]}' at '{where}' failed to satisfy constraint"
        super().__init__(f"{failed}: {expected}")


def _check(shape: Any, value: Any, path: str) -> None:
    match shape.type_name:
        case "structure":
            for name in shape.required_members:
                if name not in value:
                    raise _OutOfBoundsError("null", f"{path}.{name}", "Member must not be null")
            for name, member in value.items():
                _check(shape.members[name], member, f"{path}.{name}")
        case "list":
            if value:  # one of a query that is not there is empty
                _check_range(shape, "length", len(value), value, path)
            for item in value:
                _check(shape.member, item, f"{path}.member")
        case "map":
            _check_range(shape, "length", len(value), value, path)
            for key, member in value.items():
                _check(shape.key, key, f"{path}.key")
                _check(shape.value, member, f"{path}.value")
        case "string":
            _check_text(shape, value, path)
        case "integer" | "long":
            _check_range(shape, "value", value, value, path)


def _check_text(shape: Any, value: str, path: str) -> None:
    _check_range(shape, "length", len(value), value, path)
    if shape.enum and value not in shape.enum:
        expected = f"Member must satisfy enum value set: [{', '.join(shape.enum)}]"
        raise _OutOfBoundsError(value, path, expected)
    pattern = shape.metadata.get("pattern")
    known = _read_pattern(pattern) if pattern else None
    if known is not None and not known.fullmatch(value):
        expected = f"Member must satisfy regular expression pattern: {pattern}"
        raise _OutOfBoundsError(value, path, expected)


def _check_range(shape: Any, of: str, size: int, value: object, path: str) -> None:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is not None and size < least:
        expected = f"Member must have {of} greater than or equal to {least}"
        raise _OutOfBoundsError(value, path, expected)
    if most is not None and size > most:
        raise _OutOfBoundsError(value, path, f"Member must have {of} less than or equal to {most}")


@functools.cache
def _read_pattern(pattern: str) -> re.Pattern[str] | None:
    """Compile a pattern; return None for surrogates, which Python's `re` cannot read."""
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error:
        return None
