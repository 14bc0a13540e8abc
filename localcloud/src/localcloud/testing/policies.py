"""Roles as tests make them: who may take one, and what it may do."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any


def document(*statements: Mapping[str, Any]) -> str:
    """Return a policy document of these statements."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(action: str | list[str], resource: str | list[str] = "*", **members: Any) -> Any:
    """Return a statement that allows."""
    return {"Effect": "Allow", "Action": action, "Resource": resource, **members}


def trust(principal: str | Mapping[str, Any], **members: Any) -> str:
    """Return a trust policy for one principal: an account, an ARN, or a mapping as in IAM."""
    named = {"AWS": principal} if isinstance(principal, str) else principal
    statement = {"Effect": "Allow", "Principal": named, "Action": "sts:AssumeRole", **members}
    return document(statement)


def make_role(iam: Any, trust_policy: str, *statements: Mapping[str, Any]) -> str:
    """Make a role with an unused name, with the statements as its inline policy."""
    name = f"role-{uuid.uuid4().hex[:8]}"
    made = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust_policy)
    arn: str = made["Role"]["Arn"]
    if statements:
        allow_role(arn, iam, *statements)
    return arn


def allow_role(role_arn: str, iam: Any, *statements: Mapping[str, Any]) -> None:
    """Replace what a role may do."""
    iam.put_role_policy(
        RoleName=role_arn.rpartition("/")[2],
        PolicyName="inline",
        PolicyDocument=document(*statements),
    )


def keys_of(credentials: Mapping[str, str]) -> dict[str, str]:
    """Return the keyword arguments of boto3 for what AssumeRole answered."""
    return {
        "aws_access_key_id": credentials["AccessKeyId"],
        "aws_secret_access_key": credentials["SecretAccessKey"],
        "aws_session_token": credentials["SessionToken"],
    }
