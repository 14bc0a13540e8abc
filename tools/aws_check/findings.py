"""The answers of AWS, and the roles and buckets that a probe creates and deletes again."""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

NEW_ROLE_SECONDS: Final = 10  # a new role is not known everywhere at once


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer: AWS does what Penstock expects (None: not settled), and the details."""

    expected: bool | None
    lines: list[str]


def combine(verdicts: list[bool | None]) -> bool | None:
    """Return one verdict for several: a difference counts more than what is not settled."""
    if False in verdicts:
        return False
    return None if None in verdicts else True


def make_name() -> str:
    """Return a name that nothing else has, for what is created."""
    return f"penstock-check-{uuid.uuid4().hex[:12]}"


def read_caller(session: Any) -> tuple[str, str]:
    """Return the account of the credentials and its partition, such as aws-us-gov."""
    said = session.client("sts").get_caller_identity()
    return said["Account"], said["Arn"].split(":")[1]


def make_policy(*statements: dict[str, Any]) -> str:
    """Return a policy document of statements."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


@contextlib.contextmanager
def make_bucket(session: Any, name: str) -> Iterator[str]:
    """Create a bucket in the session's region, and delete it afterwards."""
    s3, region = session.client("s3"), session.region_name
    place = {"CreateBucketConfiguration": {"LocationConstraint": region}}
    s3.create_bucket(Bucket=name, **({} if region == "us-east-1" else place))
    try:
        yield name
    finally:
        s3.delete_bucket(Bucket=name)


@contextlib.contextmanager
def make_role(session: Any, name: str, service: str, *statements: dict[str, Any]) -> Iterator[str]:
    """Create a role for a service, wait until AWS knows it, and delete it afterwards."""
    iam = session.client("iam")
    trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=make_policy(trust))["Role"]
    try:
        if statements:
            iam.put_role_policy(
                RoleName=name, PolicyName="use", PolicyDocument=make_policy(*statements)
            )
        time.sleep(NEW_ROLE_SECONDS)
        yield role["Arn"]
    finally:
        for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]:
            iam.delete_role_policy(RoleName=name, PolicyName=policy)
        iam.delete_role(RoleName=name)
