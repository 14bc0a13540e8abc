"""Topics that are divided among jobs: what a job reads and writes is its own."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import pytest

from tests.infra.plans import ROOT, find_cases
from tests.infra.policies import list_policies

# The first test that is run waits until all cases are planned.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_NAMED = {str(case): case for case in find_cases()}
_JOBS = json.loads((ROOT / "tests/data/divided.json").read_text())["jobs"]
_OF_JOB = re.compile(r'aws_iam_role_policy\.work\["(part-\d+)"\]')


@pytest.mark.parametrize("case", [_NAMED["consumer-divided"]], ids=str)
def test_jobs_share_no_table_no_checkpoint_and_no_dead_letters(case, plan_case):
    plan = plan_case(case)
    allowed = defaultdict(str)
    for address, policy in list_policies(plan).items():
        if found := _OF_JOB.search(address):
            allowed[found[1]] += json.dumps(policy)

    assert plan.errors == ()
    assert allowed.keys() == _JOBS.keys()
    for name, text in allowed.items():
        assert _find(r"table/penstock-analytics-(plant_\d+)", text) == {
            *_JOBS[name]["writes"].values()
        }
        assert _find(r"checkpoints/([a-z0-9-]+)", text) == {name}
        assert _find(r"table/penstock-analytics-([a-z0-9-]*errors)", text) == {f"{name}-errors"}


def _find(pattern, text):
    return set(re.findall(pattern, text))
