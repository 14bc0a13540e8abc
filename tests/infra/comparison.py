"""How a plan is compared with what a case expects, and how an expectation is rewritten."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tests.infra.planned import Plan

ABSENT = "(absent)"


def find_differences(expected: dict[str, Any], plan: Plan) -> list[str]:
    """List what a plan has otherwise than expected; what is not named may be anything."""
    if plan.errors or "errors" in expected:
        return _compare_errors(expected.get("errors", []), plan.errors)
    found = _as_expectation(expected, plan)
    return [
        difference
        for part in ("values", "counts", "outputs")
        for difference in compare(expected.get(part, {}), found[part], part)
    ]


def compare(expected: Any, got: Any, where: str) -> list[str]:
    """List the differences; a mapping may have more than is expected, a list may not."""
    got = _parsed(expected, got)
    if isinstance(expected, dict) and isinstance(got, dict):
        return [
            difference
            for key, value in expected.items()
            for difference in compare(value, got.get(key, ABSENT), f"{where}: {key}")
        ]
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        return [
            difference
            for index, (wanted, item) in enumerate(zip(expected, got, strict=True))
            for difference in compare(wanted, item, f"{where}[{index}]")
        ]
    return [] if expected == got else [f"{where}\n  got      {got!r}\n  expected {expected!r}"]


def rewrite(expected: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """Take what an expectation names from the plan; one that is empty counts resources."""
    if plan.errors:
        return {"errors": sorted(_sentence(error) for error in plan.errors)}
    found = _as_expectation(expected, plan)
    kept = {part: _take(wanted, found.get(part)) for part, wanted in expected.items()}
    kept.pop("errors", None)
    return kept or {"counts": found["counts"]}


def normalise(text: str) -> str:
    """Undo the wrapping of a message."""
    return " ".join(text.split())


def _as_expectation(expected: dict[str, Any], plan: Plan) -> dict[str, Any]:
    none = dict.fromkeys(expected.get("counts", {}), 0)
    counts = none | dict(sorted(Counter(plan.types.values()).items()))
    return {"values": plan.resources, "counts": counts, "outputs": plan.outputs}


def _compare_errors(expected: list[str], errors: tuple[str, ...]) -> list[str]:
    said = [normalise(error) for error in errors]
    wanted = [normalise(text) for text in expected]
    missing = [text for text in wanted if not any(text in error for error in said)]
    beyond = [error for error in said if not any(text in error for text in wanted)]
    return [
        *(f"errors\n  got      nothing like it\n  expected {text!r}" for text in missing),
        *(f"errors\n  got      {error!r}\n  expected no such error" for error in beyond),
    ]


def _sentence(error: str) -> str:
    """What the module itself says: without the places and Terraform's heading."""
    return normalise(error.split(": ", 2)[2].partition("This was checked by")[0])


def _parsed(expected: Any, got: Any) -> Any:
    """Read a JSON document that is expected as a structure."""
    if isinstance(expected, dict | list) and isinstance(got, str):
        try:
            return json.loads(got)
        except ValueError:
            return got
    return got


def _take(expected: Any, got: Any) -> Any:
    got = _parsed(expected, got)
    if isinstance(expected, dict) and isinstance(got, dict):
        return {key: _take(value, got[key]) for key, value in expected.items() if key in got}
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        return [_take(wanted, item) for wanted, item in zip(expected, got, strict=True)]
    return got
