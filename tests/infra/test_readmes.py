"""What a README shows can be planned as it stands."""

from __future__ import annotations

import pytest

from tests.infra.plans import find_examples

# The first test that is run waits until all cases are planned.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]


@pytest.mark.parametrize("case", find_examples(), ids=str)
def test_an_example_can_be_planned(case, plan_case):
    assert plan_case(case).errors == ()
