"""Roles as the tests make them: who may take one, and what it may do."""

from __future__ import annotations

import json
import uuid


def document(*statements):
    """A policy document of these statements."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(action, resource="*", **members):
    """A statement that allows."""
    return {"Effect": "Allow", "Action": action, "Resource": resource, **members}


def trust(principal, **members):
    """A trust policy for one principal: an account, an ARN, or a mapping as in IAM."""
    named = principal if isinstance(principal, dict) else {"AWS": principal}
    statement = {"Effect": "Allow", "Principal": named, "Action": "sts:AssumeRole", **members}
    return document(statement)


def make_role(iam, trust_policy, *statements):
    """Make a role with an unused name, with the statements as its inline policy."""
    name = f"role-{uuid.uuid4().hex[:8]}"
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust_policy)["Role"]["Arn"]
    if statements:
        allow_role(arn, iam, *statements)
    return arn


def allow_role(role_arn, iam, *statements):
    """Replace what a role may do."""
    iam.put_role_policy(
        RoleName=role_arn.rpartition("/")[2],
        PolicyName="inline",
        PolicyDocument=document(*statements),
    )


def keys_of(credentials):
    """The keyword arguments of boto3 for what AssumeRole answered."""
    return {
        "aws_access_key_id": credentials["AccessKeyId"],
        "aws_secret_access_key": credentials["SecretAccessKey"],
        "aws_session_token": credentials["SessionToken"],
    }
