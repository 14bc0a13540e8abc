"""Plans for all tests of a session, each made once."""

from __future__ import annotations

import pytest

from tests.infra.plans import Case, Example, Planner


@pytest.fixture(scope="session")
def planner(cloud, tmp_path_factory):
    """What plans, against a localcloud."""
    made = Planner(tmp_path_factory.mktemp("plans"), cloud.endpoint)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def plan_case(planner, request):
    """Plan a case; all that are selected are begun at once, as two Terraforms fit a machine."""
    for item in request.session.items:
        callspec = getattr(item, "callspec", None)
        case = callspec and callspec.params.get("case")
        if isinstance(case, Case | Example):
            planner.start(case)
    return lambda case: planner.start(case).result()
