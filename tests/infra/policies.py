"""Policy documents of a plan, reduced to who may do what, on which resources, and when."""

from __future__ import annotations

import json
from typing import Any

from tests.infra.planned import UNKNOWN, Plan

_WORDS = {
    "Principal": "who",
    "NotPrincipal": "who but",
    "Action": "may",
    "NotAction": "may all but",
    "Resource": "on",
    "NotResource": "on all but",
    "Condition": "when",
}
_POLICY_ATTRIBUTES = frozenset({"policy", "assume_role_policy", "access_policy"})


def list_policies(plan: Plan, *, with_sids: bool = False) -> dict[str, Any]:
    """Reduce every policy document of a plan, by address, and list attached policies by name."""
    found = {}
    for address, resource in sorted(plan.resources.items()):
        for attribute, value in resource.items():
            reduced = _reduce(attribute, value, with_sids)
            if reduced is not None:
                found[address] = reduced
        if plan.types[address].endswith("_policy_attachment"):
            found[address] = f"{resource['role']} has {resource['policy_arn']}"
    return found


def compare_policies(expected: dict[str, Any], got: dict[str, Any]) -> list[str]:
    """List the differences, both ways: an address that is not expected is one too."""
    absent = "(absent)"
    return [
        f"{address}\n  got      {_show(got.get(address, absent))}\n"
        f"  expected {_show(expected.get(address, absent))}"
        for address in sorted({*expected, *got})
        if expected.get(address, absent) != got.get(address, absent)
    ]


def _reduce(attribute: str, value: Any, with_sids: bool) -> list[dict[str, Any]] | str | None:
    if attribute in _POLICY_ATTRIBUTES and value == UNKNOWN:
        return UNKNOWN
    if not isinstance(value, str) or '"Statement"' not in value:
        return None
    statements = json.loads(value)["Statement"]
    return [
        ({"sid": one["Sid"]} if with_sids and "Sid" in one else {}) | _statement(one)
        for one in _listed(statements)
    ]


def _statement(statement: dict[str, Any]) -> dict[str, Any]:
    told = {
        word: _told(part, statement[part]) for part, word in _WORDS.items() if part in statement
    }
    return {"deny": told} if statement["Effect"] == "Deny" else told


def _told(part: str, value: Any) -> list[str]:
    if part == "Condition":
        return sorted(
            f"{operator} {key} = {', '.join(map(str, sorted(_listed(values))))}"
            for operator, keys in value.items()
            for key, values in keys.items()
        )
    if isinstance(value, dict):
        return sorted(f"{kind} {one}" for kind, ones in value.items() for one in _listed(ones))
    return sorted(_listed(value))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _show(value: Any) -> str:
    return json.dumps(value, indent=2).replace("\n", "\n           ")
