"""Every resource that takes tags has those of the root, and every role the permissions boundary."""

from __future__ import annotations

import pytest

from tests.infra.plans import find_cases

# The first test that is run waits until all cases are planned.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

# Both have tags and a permissions boundary of their own; `part` is one that they may replace.
_GIVEN = {
    "consumer-full": {"application": "penstock", "cost-centre": "4711", "part": "orders"},
    "producer-full": {
        "application": "penstock",
        "acme:owner": "data platform",
        "cost-centre": "4711",
        "part": "acme-data-platform-kafka",
    },
}
_BOUNDARY = "arn:aws:iam::{account}:policy/company/boundary"
_NAMED = {str(case): case for case in find_cases()}
_ROOTS = [_NAMED[name] for name in _GIVEN]
# S3 takes ten tags of an object; the bucket has them all.
_WITHOUT = "aws_s3_object"


@pytest.mark.parametrize("case", _ROOTS, ids=str)
def test_every_resource_has_the_tags_of_the_root(case, plan_case):
    plan, given = plan_case(case), _GIVEN[str(case)].items()
    tagged = {
        address: made["tags_all"]
        for address, made in plan.resources.items()
        if "tags_all" in made and plan.types[address] != _WITHOUT
    }

    assert len({plan.types[address] for address in tagged}) >= 15
    assert [address for address, tags in tagged.items() if not given <= tags.items()] == []


@pytest.mark.parametrize("case", _ROOTS, ids=str)
def test_every_role_has_the_permissions_boundary(case, plan_case):
    plan = plan_case(case)
    roles = {
        address: made["permissions_boundary"]
        for address, made in plan.resources.items()
        if plan.types[address] == "aws_iam_role"
    }

    assert len(roles) >= 8
    assert set(roles.values()) == {_BOUNDARY.format(account=case.account)}
