"""A plan reads the quotas of an account, and refuses what they do not allow."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from localcloud.quotas import INTERFACE_ENDPOINTS, VPCS, QuotaValues
from tests.infra.plans import ROOT, Case, Planner

pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_ACCOUNT = "930000000005"
_JOBS = ROOT / "tests/infra/consumer/staging.tfvars"
_MORE = "functions = { reserved_concurrency = 2 }\n"


@dataclass(frozen=True, slots=True)
class _Planned(Case):
    """The consumer's root in an account with small quotas."""

    @property
    def shares_providers(self):
        return True

    @property
    def account(self):
        return _ACCOUNT


@pytest.fixture
def plan(cloud, tmp_path):
    """Plan the jobs of the consumer's cases with more arguments, by name; return the errors."""
    planner = Planner(tmp_path / "plans", cloud.endpoint)

    def errors(**more):
        text = _JOBS.read_text().replace(
            'account_id = "222222222222"', f'account_id = "{_ACCOUNT}"'
        )
        cases = [_Planned("consumer", name, tmp_path / f"{name}.tfvars") for name in more]
        for case in cases:
            case.arguments.write_text(text + _MORE + more[case.name])
        planner.start(cases)
        return [planner.plan(case).errors for case in cases]

    yield errors
    planner.stop()


def test_a_plan_beyond_the_quotas_is_refused_by_name(cloud, plan):
    values = cloud.state(QuotaValues)
    values.set(_ACCOUNT, VPCS, 1)
    values.set(_ACCOUNT, INTERFACE_ENDPOINTS, 5)

    small, unchecked = plan(small="", unchecked="check_quotas = false\n")

    told = " ".join(" ".join(small).split())

    for said in (
        "L-F678F1CE of vpc (VPCs per Region) is 1, and this root has its own VPC beside the "
        "others of the region, 2 together: ask for 2 in Service Quotas",
        "L-29B6F2EB of vpc (Interface VPC endpoints per VPC) is 5, and this root makes 6 interface "
        "endpoints in its VPC: ask for 6",
        "L-B99A9384 of lambda (Concurrent executions) is 10, and this root reserves 2 of the "
        "functions that run at once, and 100 must stay unreserved: ask for 102",
        "L-D05C8A75 of emr-serverless (Max concurrent vCPUs per account) is 16, and this root lets "
        "the application have 32 vCPU (spark.application.maximum)",
    ):
        assert said in told

    assert unchecked == ()
