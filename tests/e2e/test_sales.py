"""Sales jobs as one entry of Terraform makes them, on EMR Serverless and on a cluster."""

from __future__ import annotations

import pytest

from demo.accounts import REGION
from demo.lake import read_lake
from tests.e2e.accounts import PRODUCER
from tests.e2e.sales import (
    SERVERLESS,
    SHOP,
    SHOP_RUNS,
    SUMMARY_RUN,
    TOTALS,
    TOTALS_RUN,
    read_summary,
    read_times,
)

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_SUMMARY = "country|sales|orders\nPeru|4.99|1\n"


def test_a_summary_runs_on_emr_serverless_with_the_parameters_of_its_role(exercised):
    assert " is SUCCESS" in exercised.said[SUMMARY_RUN]
    analytics = exercised.accounts.consumers["analytics"]
    assert read_summary(analytics, analytics.outputs()["lake"]["bucket"], SERVERLESS) == _SUMMARY


def test_totals_run_on_a_cluster_and_are_merged_into_a_table(exercised):
    assert " is COMPLETED" in exercised.said[TOTALS_RUN]
    analytics = exercised.accounts.consumers["analytics"]
    rows = read_lake(analytics, analytics.outputs()["lake"], f"SELECT * FROM {TOTALS}")
    assert rows == [{"country": "Peru", "sales": "4.99", "orders": "1"}]


def test_two_steps_run_at_once_in_the_producers_vpc_and_log_in_by_iam(exercised):
    """The rights that they used on topics are compared in test_rights.py."""
    assert [" is COMPLETED" in exercised.said[run] for run in SHOP_RUNS] == [True, True]
    producer = exercised.accounts.producer
    bucket = f"penstock-artifacts-{PRODUCER}-{REGION}"
    assert read_summary(producer, bucket, SHOP) == _SUMMARY
    begun, ended = zip(*(read_times(producer)[run] for run in SHOP_RUNS), strict=True)
    assert max(begun) < min(ended)
