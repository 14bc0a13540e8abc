"""Roles in IAM (moto's): their ARNs, trust policies and permission policies."""

from __future__ import annotations

import re
from typing import Any

from moto.iam.models import iam_backends

from localcloud.identity.policies import Statement, read_statements

_ROLE_ARN = re.compile(r"arn:aws:iam::(\d{12}):role/(.+)")
_BOOTSTRAP_ROLE = "deploy"


def role_account(role_arn: str) -> str:
    """Return the account of a role."""
    return _match(role_arn)[1]


def assumed_role_arn(role_arn: str, session_name: str) -> str:
    """Return the ARN of a role's session, which omits the role's path."""
    account, name = _match(role_arn).groups()
    return f"arn:aws:sts::{account}:assumed-role/{name.rpartition('/')[2]}/{session_name}"


def is_role_arn(text: str) -> bool:
    """Return whether a text has the form of a role's ARN."""
    return _ROLE_ARN.fullmatch(text) is not None


def full_role_arn(account: str, role: str) -> str:
    """Return the ARN of a role that is given by its ARN or by its name."""
    return role if is_role_arn(role) else f"arn:aws:iam::{account}:role/{role}"


def is_bootstrap_role(role_arn: str) -> bool:
    """Return whether it is the deploy role before anybody has created it: it may do everything."""
    return _match(role_arn)[2] == _BOOTSTRAP_ROLE and find_role(role_arn) is None


def find_role(role_arn: str) -> Any | None:
    """Return a role, None if it does not exist or was deleted."""
    roles = iam_backends[role_account(role_arn)]["aws"].roles
    return next((role for role in list(roles.values()) if role.arn == role_arn), None)


def trust_statements(role: Any) -> list[Statement]:
    """Return the statements of a role's trust policy."""
    return read_statements(role.assume_role_policy_document)


def permission_statements(role: Any) -> list[Statement]:
    """Return the statements of a role's inline and managed policies."""
    documents = [*role.policies.values(), *map(_document, role.managed_policies.values())]
    return [statement for document in documents for statement in read_statements(document)]


def boundary_statements(role: Any) -> list[Statement] | None:
    """Return the statements of a role's permissions boundary, or None without one."""
    if not role.permissions_boundary_arn:
        return None
    return read_statements(policy_document(role.account_id, role.permissions_boundary_arn))


def policy_document(account: str, policy_arn: str) -> str | None:
    """Return the default version of a managed policy, None if the account has no such policy."""
    policy = iam_backends[account]["aws"].managed_policies.get(policy_arn)
    return _document(policy) if policy else None


def _document(policy: Any) -> str:
    default = next(v for v in policy.versions if v.version_id == policy.default_version_id)
    return str(default.document)


def _match(role_arn: str) -> re.Match[str]:
    match = _ROLE_ARN.fullmatch(role_arn)
    if match is None:
        raise ValueError(f"{role_arn!r} is not the ARN of a role")
    return match
