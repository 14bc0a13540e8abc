"""Filter patterns: the records that a function receives, in EventBridge's language."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from typing import Any

_MISSING = object()
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def parse_pattern(text: str) -> dict[str, Any]:
    """Parse a pattern and check that each of its rules is known.

    Raises:
        ValueError: the message has the place and the problem.
    """
    pattern = json.loads(text)
    if not isinstance(pattern, dict) or not pattern:
        raise ValueError(f"expected a JSON object with fields, found {text}")
    _check(pattern, "$")
    return pattern


def matches(pattern: Mapping[str, Any], value: Any) -> bool:
    """Return whether the value satisfies every field of the pattern."""
    if not isinstance(value, Mapping):
        return False
    for name, rule in pattern.items():
        if name == "$or":
            if not any(matches(one, value) for one in rule):
                return False
        elif isinstance(rule, Mapping):
            if not matches(rule, value.get(name)):
                return False
        elif not _satisfies(rule, value.get(name, _MISSING)):
            return False
    return True


def _satisfies(rules: list[Any], value: Any) -> bool:
    # A list satisfies a rule if one of its items does.
    values = value if isinstance(value, list) else [value]
    return any(_holds(rule, one) for rule in rules for one in values)


def _holds(rule: Any, value: Any) -> bool:
    if not isinstance(rule, Mapping):
        return value is not _MISSING and _same(rule, value)
    ((kind, wanted),) = rule.items()
    if kind == "exists":
        return (value is not _MISSING) is wanted
    return value is not _MISSING and _RULES[kind](wanted, value)


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _anything_but(wanted: Any, value: Any) -> bool:
    return not _satisfies(wanted if isinstance(wanted, list) else [wanted], value)


def _numeric(wanted: list[Any], value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return all(
        _COMPARE[sign](value, number)
        for sign, number in zip(wanted[::2], wanted[1::2], strict=True)
    )


_RULES: Mapping[str, Callable[[Any, Any], bool]] = {
    "prefix": lambda wanted, value: isinstance(value, str) and value.startswith(wanted),
    "suffix": lambda wanted, value: isinstance(value, str) and value.endswith(wanted),
    "equals-ignore-case": lambda wanted, value: (
        isinstance(value, str) and value.casefold() == wanted.casefold()
    ),
    "anything-but": _anything_but,
    "numeric": _numeric,
}


def _check(pattern: Mapping[str, Any], path: str) -> None:
    for name, rule in pattern.items():
        place = f"{path}.{name}"
        if isinstance(rule, Mapping):
            _check(rule, place)
        elif not isinstance(rule, list) or not rule:
            raise ValueError(f"{place} is {json.dumps(rule)}, expected a list with rules")
        elif name == "$or":
            for one in rule:
                if not isinstance(one, Mapping):
                    raise ValueError(f"{place} has {json.dumps(one)}, expected an object")
                _check(one, place)
        else:
            _check_rules(rule, place)


def _check_rules(rules: list[Any], place: str) -> None:
    known = sorted({*_RULES, "exists"})
    for rule in rules:
        if isinstance(rule, Mapping) and (len(rule) != 1 or not rule.keys() <= set(known)):
            raise ValueError(f"{place} has {json.dumps(rule)}, expected one of {', '.join(known)}")
        if isinstance(rule, Mapping):
            _check_wanted(*next(iter(rule.items())), place)


def _check_wanted(kind: str, wanted: Any, place: str) -> None:
    if kind == "anything-but":
        _check_rules(wanted if isinstance(wanted, list) else [wanted], place)
    elif kind == "numeric":
        if not _is_comparison(wanted):
            raise ValueError(
                f"{place} has numeric {json.dumps(wanted)}, expected a list of signs "
                f"({' '.join(_COMPARE)}) and numbers in turn"
            )
    elif not isinstance(wanted, bool if kind == "exists" else str):
        expected = "true or false" if kind == "exists" else "a text"
        raise ValueError(f"{place} has {kind} {json.dumps(wanted)}, expected {expected}")


def _is_comparison(wanted: Any) -> bool:
    return (
        isinstance(wanted, list)
        and len(wanted) in {2, 4}
        and all(isinstance(sign, str) and sign in _COMPARE for sign in wanted[::2])
        and all(type(number) in {int, float} for number in wanted[1::2])
    )
