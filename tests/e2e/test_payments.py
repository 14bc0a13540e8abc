"""Confluent's frames in a topic become rows by a function, by a Spark job and by staging."""

from __future__ import annotations

import pytest

from demo.lake import read_lake
from demo.rows import read_table
from tests.e2e.payments import PAYMENTS, TOPIC, read_dead_letters, read_payments
from tests.e2e.staging import JOB

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_FIELDS = ("amount", "currency", "paymentId")
_VERSIONS = [("p-1", 1), ("p-2", 2)]


def _select(row):
    return {name: row[name] for name in _FIELDS if name in row}


def test_a_function_writes_a_row_of_each_payment(exercised):
    rows = exercised.payments_of_the_function

    assert {row["paymentId"]: _select(row) for row in rows.values()} == PAYMENTS
    assert sorted((row["paymentId"], row["_schema"]) for row in rows.values()) == _VERSIONS


def test_a_spark_job_writes_the_same_rows_and_the_lake(exercised):
    assert " is COMPLETED" in exercised.said[TOPIC]
    accounts = exercised.accounts
    analytics = accounts.consumers["analytics"]
    asked = "SELECT paymentId AS id, amount, currency, _schema_version AS v FROM payments"
    found = read_lake(analytics, analytics.outputs()["lake"], f"{asked} ORDER BY 1")

    assert read_payments(accounts) == exercised.payments_of_the_function
    assert found == [
        {"id": "p-1", "amount": "4.5", "currency": None, "v": "1"},
        {"id": "p-2", "amount": "7.25", "currency": "EUR", "v": "2"},
    ]


def test_staging_writes_the_newest_row_of_each_payment(exercised):
    analytics = exercised.accounts.consumers["analytics"]
    rows = read_table(analytics, "penstock-analytics-receipts", "paymentId")

    assert {name: _select(row) for name, row in rows.items()} == PAYMENTS
    assert sorted((name, row["_schema"]) for name, row in rows.items()) == _VERSIONS


@pytest.mark.nightly
def test_its_replay_and_its_maintenance_run_on_the_cluster_too(mended):
    assert [" is COMPLETED" in told for told in mended.values()] == [True, True], mended


def test_bytes_that_are_no_frame_are_given_up_by_each_of_the_three(exercised):
    accounts = exercised.accounts
    given_up = [*read_dead_letters(accounts, TOPIC), *read_dead_letters(accounts, JOB)]

    assert {row["reason"] for row in given_up} == {"unknown-framing"}
    assert sorted(row["stage"] for row in given_up) == ["lambda", "spark", "spark"]
