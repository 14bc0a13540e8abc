"""A sales job as one entry of Terraform makes it, on EMR Serverless and on a cluster."""

from __future__ import annotations

import pytest

from tests.e2e.sales import SERVERLESS, STEP

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]


@pytest.mark.parametrize(("job", "state"), [(SERVERLESS, "SUCCESS"), (STEP, "COMPLETED")])
def test_a_summary_runs_with_the_parameters_of_its_role(exercised, job, state):
    summaries = exercised.summaries

    assert f" is {state}\n" in summaries.said[job]
    assert summaries.read_file(job) == "country|sales|orders\nPeru|4.99|1\n"
