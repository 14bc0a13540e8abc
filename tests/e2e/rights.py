"""What a role is granted and what it has used, statement by statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

Granted = tuple[str, str]


def find_unused(
    policies: Iterable[dict[str, Any]], decisions: Iterable[dict[str, Any]]
) -> set[Granted]:
    """List what the policies allow and nobody has used, as statement and action.

    Conditions are not looked at: of two statements on a key either counts as used with the other.
    """
    used = [
        (decision["action"].lower(), decision["resource"])
        for decision in decisions
        if decision["allowed"]
    ]
    return {
        (sid, action)
        for sid, action, patterns in _list_granted(policies)
        if not any(name == action.lower() and _covers(patterns, arn) for name, arn in used)
    }


def _list_granted(policies: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, list[str]]]:
    for policy in policies:
        for statement in policy["Statement"]:
            if statement["Effect"] == "Allow":
                patterns = _listed(statement["Resource"])
                for action in _listed(statement["Action"]):
                    yield statement["Sid"], action, patterns


def _covers(patterns: list[str], arn: str | None) -> bool:
    """Whether a resource is one of these; a call without any needs all of them."""
    return any(pattern == "*" or (arn and fnmatchcase(arn, pattern)) for pattern in patterns)


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
