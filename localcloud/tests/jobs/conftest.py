"""What all tests of job runs share."""

from __future__ import annotations

import pytest

from tests.fixtures.jobs import make_jobs


@pytest.fixture(scope="session")
def jobs(client):
    """An application, a bucket, and a role for jobs."""
    return make_jobs(client, "111111111111")


@pytest.fixture(scope="session")
def boto3_parameters(jobs):
    """What spark-submit needs for jobs that import boto3, as the consumer's root gives it."""
    path = "PYTHONPATH=./packages"
    return (
        f"--archives {jobs.put_boto3()} --conf spark.emr-serverless.driverEnv.{path} "
        f"--conf spark.executorEnv.{path}"
    )
