"""Roles and users that a policy names: AWS looks for them when it stores the policy.

It stores their ids, so it refuses one that does not exist: IAM User Guide, "AWS JSON policy
elements: Principal".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from moto.iam.models import iam_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.door.services import find_service
from localcloud.identity.access import find_param
from localcloud.identity.conditions import as_list
from localcloud.identity.roles import find_role, is_bootstrap_role

_NAMED = re.compile(r"arn:aws:iam::(\d{12}):(role|user)/.+")


def refuse_unknown_principals(call: Call) -> None:
    """Raise AwsError if a call stores a policy that names a role or user that does not exist."""
    policies = find_service(call.service).policies
    path = policies.stored_by.get(call.operation) if policies else None
    if policies is None or path is None:
        return
    for name in _list_named(find_param(call, path)):
        if not _exists(name):
            raise AwsError(policies.code, policies.message.format(name), status=400)


def _list_named(document: Any) -> Iterator[str]:
    """List the principals under AWS of a policy; of anything else none, the service refuses it."""
    try:
        policy = json.loads(document or "")
    except ValueError:
        return
    statements = as_list(policy.get("Statement", [])) if isinstance(policy, Mapping) else []
    for statement in statements:
        for kind in ("Principal", "NotPrincipal"):
            named = statement.get(kind) if isinstance(statement, Mapping) else None
            if isinstance(named, Mapping):
                yield from map(str, as_list(named.get("AWS", [])))


def _exists(name: str) -> bool:
    match = _NAMED.fullmatch(name)
    if match is None:  # an account, everybody, a session: assumption `unknown-principals`
        return True
    if match[2] == "role":
        return find_role(name) is not None or is_bootstrap_role(name)
    users = iam_backends[match[1]]["aws"].users
    return any(user.arn == name for user in list(users.values()))
