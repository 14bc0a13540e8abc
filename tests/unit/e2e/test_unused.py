"""What counts as used: an action that was allowed, on a resource that its statement covers."""

from __future__ import annotations

import pytest

from tests.e2e.rights import find_unused

_POLICY = {
    "Statement": [
        {
            "Sid": "Write",
            "Effect": "Allow",
            "Action": ["s3:PutObject", "s3:GetObject"],
            "Resource": "arn:aws:s3:::a/errors/*",
        },
        {"Sid": "Count", "Effect": "Allow", "Action": "sqs:ListQueues", "Resource": ["*"]},
        {"Sid": "Never", "Effect": "Deny", "Action": "s3:PutObject", "Resource": "*"},
    ]
}
_PUT, _GET, _LIST = (
    ("Write", "s3:PutObject"),
    ("Write", "s3:GetObject"),
    ("Count", "sqs:ListQueues"),
)


def used(action, resource, *, allowed=True):
    """A decision as localcloud tells it."""
    return {"action": action, "resource": resource, "allowed": allowed}


@pytest.mark.parametrize(
    ("decisions", "unused"),
    [
        ([], {_PUT, _GET, _LIST}),
        ([used("s3:putobject", "arn:aws:s3:::a/errors/k")], {_GET, _LIST}),
        ([used("s3:PutObject", "arn:aws:s3:::a/errors/k", allowed=False)], {_PUT, _GET, _LIST}),
        ([used("s3:PutObject", "arn:aws:s3:::a/elsewhere/k")], {_PUT, _GET, _LIST}),
        ([used("s3:PutObject", None)], {_PUT, _GET, _LIST}),
        ([used("sqs:ListQueues", None)], {_PUT, _GET}),
    ],
    ids=["nothing", "one", "refused", "elsewhere", "no resource", "all resources"],
)
def test_unused_permissions_are_listed(decisions, unused):
    assert find_unused([_POLICY], decisions) == unused
