"""The evaluation of policy documents: pure decisions.

Identity policies, resource policies and trust policies follow the same rules; the latter two name
principals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, TypeAlias

from localcloud.identity.conditions import (
    Context,
    as_list,
    fulfills,
    matches_arn,
    matches_pattern,
)

Statement: TypeAlias = Mapping[str, Any]

_VARIABLE = re.compile(r"\$\{([^}]+)\}")
_ARN_PARTS = 6


class Verdict(Enum):
    """The decision of policies on a request; the strongest of several counts."""

    SILENT = 0
    ACCOUNT = 1  # a resource's policy trusts the account: the account's policies decide
    ROLE = 2  # a resource's policy names the role: its boundary and session policy still limit it
    ALLOWED = 3
    DENIED = 4


@dataclass(frozen=True, slots=True)
class Principal:
    """The requester: an account with the ARNs of user or role and session, or a service."""

    account: str
    arn: str
    session_arn: str | None = None
    service: str | None = None

    @property
    def user_arn(self) -> str | None:
        """The ARN of a user or an account, None for a role."""
        return None if ":role/" in self.arn else self.arn


@dataclass(frozen=True, slots=True)
class Request:
    """The requested action. A resource of None is unknown: only the action is evaluated."""

    action: str
    resource: str | None
    context: Context = field(default_factory=dict)


def read_statements(document: str | bytes | Mapping[str, Any] | None) -> list[Statement]:
    """Return the statements of a policy document, none if there is no document."""
    if not document:
        return []
    policy = _read_policy(document) if isinstance(document, str | bytes) else document
    return as_list(policy.get("Statement", []))


@lru_cache(maxsize=1_024)  # a few policies judge every call
def _read_policy(document: str | bytes) -> Mapping[str, Any]:
    policy: Mapping[str, Any] = json.loads(document)
    return policy


def judge_identity(statements: Iterable[Statement], request: Request) -> Verdict:
    """Evaluate the policies of a role, which name no principals."""
    return _strongest(
        _effect(statement) for statement in statements if _applies(statement, request)
    )


def judge_resource(
    statements: Iterable[Statement], request: Request, principal: Principal
) -> Verdict:
    """Evaluate the policy of a resource or the trust policy of a role."""
    verdicts = []
    for statement in statements:
        named = _names(statement, principal)
        if named is not Verdict.SILENT and _applies(statement, request):
            effect = _effect(statement)
            verdicts.append(effect if effect is Verdict.DENIED else named)
    return _strongest(verdicts)


def _strongest(verdicts: Iterable[Verdict]) -> Verdict:
    return max(verdicts, key=lambda verdict: verdict.value, default=Verdict.SILENT)


def _effect(statement: Statement) -> Verdict:
    return Verdict.ALLOWED if statement["Effect"] == "Allow" else Verdict.DENIED


def _applies(statement: Statement, request: Request) -> bool:
    return (
        _covers_action(statement, request.action)
        and _covers_resource(statement, request)
        and fulfills(statement.get("Condition", {}), request.context)
    )


def _covers_action(statement: Statement, action: str) -> bool:
    if "NotAction" in statement:
        return not _any_action(statement["NotAction"], action)
    return _any_action(statement["Action"], action)


def _any_action(patterns: Any, action: str) -> bool:
    return any(matches_pattern(p.lower(), action.lower()) for p in as_list(patterns))


def _covers_resource(statement: Statement, request: Request) -> bool:
    if request.resource is None:  # a Deny of some resources must not apply to an unknown one
        allows = _effect(statement) is Verdict.ALLOWED
        return allows or "NotResource" in statement or "*" in as_list(statement.get("Resource"))
    if "NotResource" in statement:
        return not _any_resource(statement["NotResource"], request)
    # A trust policy has no Resource: it is about its role.
    return "Resource" not in statement or _any_resource(statement["Resource"], request)


def _any_resource(patterns: Any, request: Request) -> bool:
    assert request.resource is not None  # noqa: S101 - called only for known ones
    resource = request.resource
    return any(
        pattern == "*" or _matches_resource(_fill(pattern, request.context), resource)
        for pattern in as_list(patterns)
    )


def _matches_resource(pattern: str, resource: str) -> bool:
    if len(pattern.split(":", 5)) < _ARN_PARTS:  # "arn:aws:s3*" is valid and matches across colons
        return matches_pattern(pattern, resource)
    return matches_arn(pattern, resource)


def _fill(pattern: str, context: Context) -> str:
    """Fill in the policy variables of the context; an unknown one matches nothing."""

    def replace(found: re.Match[str]) -> str:
        value = context.get(found[1])
        return value if isinstance(value, str) else "\0"

    return _VARIABLE.sub(replace, pattern)


def _names(statement: Statement, principal: Principal) -> Verdict:
    """Return whether a statement names a principal: itself, its account, or neither."""
    if "NotPrincipal" in statement:
        named = _find_principal(statement["NotPrincipal"], principal)
        return Verdict.ALLOWED if named is Verdict.SILENT else Verdict.SILENT
    return _find_principal(statement.get("Principal", {}), principal)


def _find_principal(named: Any, principal: Principal) -> Verdict:
    if named == "*":
        return Verdict.ALLOWED
    if principal.service is not None:
        services = as_list(named.get("Service", []))
        return Verdict.ALLOWED if principal.service in services else Verdict.SILENT
    return _strongest(_match_aws(name, principal) for name in as_list(named.get("AWS", [])))


def _match_aws(name: str, principal: Principal) -> Verdict:
    if name == "*" or name in {principal.user_arn, principal.session_arn}:
        return Verdict.ALLOWED
    if name == principal.arn:
        return Verdict.ROLE
    if name in {principal.account, f"arn:aws:iam::{principal.account}:root"}:
        return Verdict.ACCOUNT
    return Verdict.SILENT
