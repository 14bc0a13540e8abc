"""Permissions that a call needs besides its own action: on roles, and on keys of what it creates.

A caller that gives a role to a service must have `iam:PassRole` on it. A service that works by a
service-linked role creates the role in the caller's name at the account's first such call. One that
encrypts by a key of the customer's looks at the key and creates a grant on it in the caller's name.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

from moto.iam.models import iam_backends

from localcloud.door.operations import Call
from localcloud.door.services import find_service
from localcloud.identity.access import Access, find_param
from localcloud.identity.resource_policies import key_arn
from localcloud.identity.roles import find_role, is_role_arn, role_account

_lock = threading.Lock()


def list_dependent_access(call: Call) -> Iterator[Access]:
    """List what the caller must be allowed besides; a service itself refuses foreign roles."""
    for role_arn, service in find_service(call.service).passed_roles(call):
        if is_role_arn(role_arn) and role_account(role_arn) == call.account:
            yield Access("iam:PassRole", role_arn, {"iam:PassedToService": service})
    if linked := _find_linked(call):
        arn, service = linked
        yield Access("iam:CreateServiceLinkedRole", arn, {"iam:AWSServiceName": service})
    if key := _find_key(call):
        yield Access("kms:DescribeKey", key, {})
        yield Access("kms:CreateGrant", key, {"kms:GrantIsForAWSResource": "true"})


def _find_key(call: Call) -> str | None:
    """Return the ARN of the customer's key that a call encrypts by."""
    path = find_service(call.service).keys.get(call.operation)
    found = find_param(call, path) if path else None
    return key_arn(call.account, call.region, found) if found and "aws/" not in found else None


def create_linked_role(call: Call) -> None:
    """Create the service-linked role of an authorized call if the account has none."""
    with _lock:
        if linked := _find_linked(call):
            arn, service = linked
            iam_backends[call.account]["aws"].create_role(
                role_name=arn.rpartition("/")[2],
                assume_role_policy_document=_trust(service),
                path=f"/aws-service-role/{service}/",
                permissions_boundary=None,
                description="",
                tags=[],
                max_session_duration="3600",
                linked_service=service,
            )


def _find_linked(call: Call) -> tuple[str, str] | None:
    """Return the service-linked role that a call lacks, and its service; None if it lacks none."""
    linked = find_service(call.service).linked_roles.get(call.operation)
    if linked is None:
        return None
    arn = f"arn:aws:iam::{call.account}:role/aws-service-role/{linked.service}/{linked.name}"
    return (arn, linked.service) if find_role(arn) is None else None


def _trust(service: str) -> str:
    statement = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": service},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
