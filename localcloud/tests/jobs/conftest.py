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
    """Return the options of spark-submit with which the consumer's root brings boto3 to a job."""
    path = "PYTHONPATH=./packages"
    return (
        f"--archives {jobs.put_boto3()} --conf spark.emr-serverless.driverEnv.{path} "
        f"--conf spark.executorEnv.{path}"
    )
