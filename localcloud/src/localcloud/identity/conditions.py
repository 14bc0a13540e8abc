"""The Condition of a policy statement: IAM's operators over the keys of a request's context.

An unknown operator and a policy variable raise UndecidablePolicyError: neither is ever taken as
fulfilled or as not fulfilled.
"""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from localcloud.errors import UndecidablePolicyError

Context: TypeAlias = Mapping[str, str | Iterable[str]]


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern with the wildcards `*` and `?`."""
    return _compile(pattern).fullmatch(text) is not None


@functools.lru_cache(maxsize=4096)  # each call is judged by some hundred patterns
def _compile(pattern: str) -> re.Pattern[str]:
    expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(expression, re.DOTALL)


def matches_arn(pattern: str, arn: str) -> bool:
    """Return whether two ARNs match part by part, so that no wildcard crosses a colon."""
    patterns, parts = pattern.split(":", 5), arn.split(":", 5)
    return len(patterns) == len(parts) and all(map(matches_pattern, patterns, parts))


def fulfills(condition: Mapping[str, Mapping[str, Any]], context: Context) -> bool:
    """Return whether every operator holds for each of its keys."""
    keys = {key.lower(): value for key, value in context.items()}
    return all(
        _holds(operator, key, as_list(expected), keys)
        for operator, tests in condition.items()
        for key, expected in tests.items()
    )


def as_list(value: Any) -> list[Any]:
    """Return a policy's value, one or a list of them, as a list."""
    return value if isinstance(value, list) else [value]


def _holds(operator: str, key: str, expected: list[Any], keys: Mapping[str, Any]) -> bool:
    found = keys.get(key.lower())
    actual = [] if found is None else [found] if isinstance(found, str) else list(found)
    quantifier, _, name = operator.rpartition(":")
    base = name.removesuffix("IfExists")
    if base == "Null":
        return (not actual) == (str(expected[0]).lower() == "true")
    negated = base in _NEGATED
    test = _TESTS.get(_NEGATED.get(base, base))
    if test is None or quantifier not in {"", "ForAnyValue", "ForAllValues"}:
        raise UndecidablePolicyError(f"localcloud does not know the condition operator {operator}")
    if variable := next((str(e) for e in expected if "${" in str(e)), None):
        raise UndecidablePolicyError(f"localcloud does not know the policy variable {variable}")
    if not actual:
        return base != name or quantifier == "ForAllValues" or (negated and not quantifier)
    verdicts = [any(test(str(e), value) for e in expected) is not negated for value in actual]
    return any(verdicts) if quantifier == "ForAnyValue" else all(verdicts)


def _is_in_network(network: str, address: str) -> bool:
    return ipaddress.ip_address(address) in ipaddress.ip_network(network, strict=False)


def _read_time(text: str) -> datetime:
    """Read a time as policies write it: ISO 8601 or seconds since 1970, UTC unless it says so."""
    if text.isdecimal():
        return datetime.fromtimestamp(int(text), UTC)
    time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return time if time.tzinfo else time.replace(tzinfo=UTC)


_TESTS: dict[str, Callable[[str, str], bool]] = {
    "StringEquals": str.__eq__,
    "StringEqualsIgnoreCase": lambda expected, actual: expected.lower() == actual.lower(),
    "StringLike": matches_pattern,
    "ArnEquals": matches_arn,
    "ArnLike": matches_arn,
    "Bool": lambda expected, actual: expected.lower() == actual.lower(),
    "IpAddress": _is_in_network,
    "NumericEquals": lambda expected, actual: float(actual) == float(expected),
    "NumericLessThan": lambda expected, actual: float(actual) < float(expected),
    "NumericLessThanEquals": lambda expected, actual: float(actual) <= float(expected),
    "NumericGreaterThan": lambda expected, actual: float(actual) > float(expected),
    "NumericGreaterThanEquals": lambda expected, actual: float(actual) >= float(expected),
    "DateEquals": lambda expected, actual: _read_time(actual) == _read_time(expected),
    "DateLessThan": lambda expected, actual: _read_time(actual) < _read_time(expected),
    "DateLessThanEquals": lambda expected, actual: _read_time(actual) <= _read_time(expected),
    "DateGreaterThan": lambda expected, actual: _read_time(actual) > _read_time(expected),
    "DateGreaterThanEquals": lambda expected, actual: _read_time(actual) >= _read_time(expected),
    "BinaryEquals": str.__eq__,  # both are base64
}
_NEGATED = {
    "StringNotEquals": "StringEquals",
    "StringNotEqualsIgnoreCase": "StringEqualsIgnoreCase",
    "StringNotLike": "StringLike",
    "ArnNotEquals": "ArnEquals",
    "ArnNotLike": "ArnLike",
    "NotIpAddress": "IpAddress",
    "NumericNotEquals": "NumericEquals",
    "DateNotEquals": "DateEquals",
}
