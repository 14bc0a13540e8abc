"""The question to IAM: how long may the policies of a role be?"""

from __future__ import annotations

import json
from typing import Any, Final

from botocore.exceptions import ClientError

from tools.aws_check.findings import Finding, make_name, make_policy, make_role, read_caller

_INLINE: Final = 10_240  # of all inline policies of a role
_MANAGED: Final = 6_144
_RESOURCE: Final = "arn:{}:s3:::a-bucket-with-a-long-name/and-a-folder-with-a-long-name/"


def ask_policy_sizes(session: Any) -> Finding:
    """Attach policies of the greatest length to a new role, then one that exceeds the quota."""
    iam, name = session.client("iam"), make_name()
    resource = _RESOURCE.format(read_caller(session)[1])
    lines: list[str] = []
    with make_role(session, name, "lambda.amazonaws.com"):

        def put(policy: str, length: int) -> str:
            document = _make_document(length, resource)
            return _try(
                iam.put_role_policy, RoleName=name, PolicyName=policy, PolicyDocument=document
            )

        half = _INLINE // 2
        said = [put("a", half), put("b", _INLINE - half), put("b", _INLINE - half + 1)]
        lines.append(f"two inline policies of {_INLINE} characters and white space: {said[1]}")
        lines.append(f"of {_INLINE + 1}: {said[2]}")
    documents = [_make_document(length, resource) for length in (_MANAGED, _MANAGED + 1)]
    managed = [_create(iam, name, document) for document in documents]
    lines.append(f"a managed policy of {_MANAGED} characters and white space: {managed[0]}")
    lines.append(f"of {_MANAGED + 1}: {managed[1]}")
    expected = ["taken", "taken", "LimitExceeded", "taken", "LimitExceeded"]
    return Finding([each.partition(":")[0] for each in (*said, *managed)] == expected, lines)


def _create(iam: Any, name: str, document: str) -> str:
    made: list[str] = []

    def create(**asked: str) -> None:
        made.append(iam.create_policy(**asked)["Policy"]["Arn"])

    said = _try(create, PolicyName=name, PolicyDocument=document)
    for arn in made:
        iam.delete_policy(PolicyArn=arn)
    return said


def _try(call: Any, **asked: str) -> str:
    try:
        call(**asked)
    except ClientError as error:
        return "{Code}: {Message}".format(**error.response["Error"])
    return "taken"


def _make_document(length: int, resource: str) -> str:
    """Return a policy of so many characters, besides white space, which is not counted."""
    resources: list[str] = []
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": resources}

    def room() -> int:
        return length - len(json.dumps(json.loads(make_policy(statement)), separators=(",", ":")))

    resources.append(resource)
    while room() > len(resource) * 2:
        resources.append(resource)
    resources[-1] += "k" * room()
    return json.dumps(json.loads(make_policy(statement)), indent=1)
