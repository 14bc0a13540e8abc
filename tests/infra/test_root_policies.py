"""A right of a root that is wider than its modules' and its case's is told, wherever it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from tests.infra.plans import find_cases
from tests.infra.root_policies import find_policy_differences

# The first test that is run waits until all cases are planned.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_CASE = next(case for case in find_cases() if str(case) == "consumer-smallest")
_BUCKET = "module.lake.module.bucket.aws_s3_bucket_policy.this"
_FUNCTION = 'module.consumer_functions.module.function["consumer"].aws_iam_role_policy.runtime'
_JOB = 'module.spark["spark"].module.jobs.aws_iam_role_policy.work["consume"]'
_TRUST = 'module.spark["spark"].module.jobs.aws_iam_role.job["consume"]'


@pytest.fixture
def planted(plan_case):
    """Change a text of a policy in the plan of the case, and list what is told."""
    said = yaml.safe_load(_CASE.policies.read_text())
    plan = plan_case(_CASE)
    assert find_policy_differences(said, _CASE, plan) == []

    def plant(address, old, new):
        changed = {
            attribute: value.replace(old, new) if isinstance(value, str) else value
            for attribute, value in plan.resources[address].items()
        }
        assert changed != plan.resources[address]
        return find_policy_differences(
            said, _CASE, replace(plan, resources=plan.resources | {address: changed})
        )

    return plant


@pytest.mark.parametrize("case", [_CASE], ids=str)
@pytest.mark.parametrize(
    ("address", "old", "new"),
    [
        (_JOB, '"dynamodb:PutItem"', '"dynamodb:*"'),
        (_JOB, "table/penstock-analytics-errors", "table/*"),
        (_FUNCTION, "/aws/lambda/penstock-analytics-consumer:*", "*"),
        (_FUNCTION, '"Effect":"Deny"', '"Effect":"Allow"'),
        (_BUCKET, '"aws:SecureTransport":"false"', '"aws:SecureTransport":"true"'),
        (_TRUST, "emr-serverless.amazonaws.com", "ec2.amazonaws.com"),
        (_TRUST, '"aws:SourceAccount":"222222222222"', '"aws:SourceAccount":"333333333333"'),
    ],
)
def test_a_widened_right_is_told(planted, case, address, old, new):
    assert any(told.startswith(address) for told in planted(address, old, new))
