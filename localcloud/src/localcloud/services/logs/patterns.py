"""The filter patterns of CloudWatch Logs: terms, of which all or any occur, or a condition on JSON.

CloudWatch Logs User Guide, "Filter pattern syntax". Others are refused rather than ignored.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Matcher: TypeAlias = Callable[[str], bool]

_TERM: Final = r'"(?:[^"\\]|\\.)*"|\w+'
_TERMS: Final = re.compile(rf"\s*(?:(?:{_TERM})(?:\s+|$))*")
_OPTIONAL: Final = re.compile(rf"\s*(?:\?(?:{_TERM})(?:\s+|$))+")
_CONDITION: Final = re.compile(
    r"\s*\{\s*\$(?P<path>(?:\.[\w-]+)+)\s*(?P<sign>>=|<=|=|>|<)\s*"
    r'(?:(?P<number>-?\d+(?:\.\d+)?)|"(?P<text>[^"\\*]*)")\s*\}\s*'
)
_SIGNS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def read_pattern(pattern: str) -> Matcher:
    """Return what says whether a message matches a pattern; the empty one matches all.

    Raises:
        ValueError: the pattern is invalid, or none of those that are answered here.
    """
    terms = [_unquote(each) for each in re.findall(_TERM, pattern)]
    if _TERMS.fullmatch(pattern):
        return lambda message: all(term in message for term in terms)
    if _OPTIONAL.fullmatch(pattern):
        return lambda message: any(term in message for term in terms)
    found = _CONDITION.fullmatch(pattern)
    if found is None or (found["text"] is not None and found["sign"] != "="):
        raise ValueError(
            f"Invalid filter pattern {pattern}; localcloud answers terms, quoted terms, terms that "
            "all begin with ?, and one condition such as { $.Rows >= 1 } or "
            '{ $.service = "orders" }'
        )
    path = found["path"].split(".")[1:]
    expected = found["text"] if found["number"] is None else float(found["number"])
    compare = _SIGNS[found["sign"]]

    def matches(message: str) -> bool:
        value = _find_value(message, path)
        return _are_alike(value, expected) and compare(value, expected)

    return matches


def _unquote(term: str) -> str:
    return re.sub(r"\\(.)", r"\1", term[1:-1]) if term.startswith('"') else term


def _find_value(message: str, path: list[str]) -> Any:
    """Return a value of a line of JSON, None if it has none there."""
    try:
        value = json.loads(message)
    except ValueError:
        return None
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _are_alike(value: Any, expected: str | float) -> bool:
    """Return whether both are texts, or both numbers, which a boolean is not."""
    if isinstance(expected, str):
        return isinstance(value, str)
    return isinstance(value, int | float) and not isinstance(value, bool)
