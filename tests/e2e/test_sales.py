"""Sales jobs as one entry of Terraform makes them, on EMR Serverless and on a cluster."""

from __future__ import annotations

import pytest

from demo.lake import read_lake
from tests.e2e.payments import TOPIC
from tests.e2e.sales import SHOP_RUN, SUMMARY_RUN, TOTALS, TOTALS_RUN, read_summary, read_times

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_SUMMARY = "country|sales|orders\nPeru|4.99|1\n"


def test_a_summary_runs_on_emr_serverless_with_the_parameters_of_its_role(exercised):
    assert " is SUCCESS" in exercised.said[SUMMARY_RUN]
    analytics = exercised.accounts.consumers["analytics"]
    assert read_summary(analytics, analytics.outputs()["lake"]["bucket"]) == _SUMMARY


def test_totals_run_on_a_cluster_and_are_merged_into_a_table(exercised):
    assert " is COMPLETED" in exercised.said[TOTALS_RUN]
    analytics = exercised.accounts.consumers["analytics"]
    rows = read_lake(analytics, analytics.outputs()["lake"], f"SELECT * FROM {TOTALS}")
    assert rows == [{"country": "Peru", "sales": "4.99", "orders": "1"}]


def test_two_steps_run_at_once_on_a_cluster(exercised):
    analytics = exercised.accounts.consumers["analytics"]
    begun, ended = zip(*(read_times(analytics)[run] for run in (TOTALS_RUN, TOPIC)), strict=True)
    assert max(begun) < min(ended)


def test_totals_run_in_the_producers_vpc_and_log_in_by_iam(exercised):
    """The rights that they used on topics are compared in test_rights.py."""
    assert " is COMPLETED" in exercised.said[SHOP_RUN]
