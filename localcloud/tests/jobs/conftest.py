"""What all tests of job runs share."""

from __future__ import annotations

import secrets

import pytest

from localcloud.testing.policies import allow, make_role, trust
from tests.fixtures.jobs import make_jobs
from tests.jobs.clusters import ENDED, state_of


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


@pytest.fixture(scope="module")
def emr(client):
    return client("emr")


@pytest.fixture(scope="module")
def bucket(client):
    name = f"emr-{secrets.token_hex(4)}"
    place = {"LocationConstraint": "eu-central-1"}
    client("s3").create_bucket(Bucket=name, CreateBucketConfiguration=place)
    return name


@pytest.fixture(scope="module")
def profile(client):
    """An instance profile whose role may use the buckets and the parameters of one path."""
    iam, name = client("iam"), f"emr-{secrets.token_hex(4)}"
    role = make_role(
        iam,
        trust({"Service": "ec2.amazonaws.com"}),
        allow("s3:*"),
        allow("ssm:GetParameter", "arn:aws:ssm:eu-central-1:111111111111:parameter/sales/*"),
    )
    iam.create_instance_profile(InstanceProfileName=name)
    made = {"InstanceProfileName": name, "RoleName": role.rpartition("/")[2]}
    iam.add_role_to_instance_profile(**made)
    return name


@pytest.fixture(scope="module")
def service_role(client):
    """A service role that may do what EMR needs."""
    iam = client("iam")
    trusted = trust({"Service": "elasticmapreduce.amazonaws.com"})
    return make_role(iam, trusted, allow("ec2:*"), allow("iam:PassRole"))


@pytest.fixture
def run(emr, profile, service_role):
    """Start clusters with one primary and two core nodes; all are ended after the test."""
    made = []

    def start(**given):
        instances = {
            "InstanceGroups": [
                {"InstanceRole": "MASTER", "InstanceType": "m7g.xlarge", "InstanceCount": 1},
                {"InstanceRole": "CORE", "InstanceType": "m7g.xlarge", "InstanceCount": 2},
            ],
            "KeepJobFlowAliveWhenNoSteps": True,
        } | given.pop("Instances", {})
        asked = {
            "Name": "sales",
            "ReleaseLabel": "emr-spark-8.1.0",
            "Applications": [{"Name": "Spark"}],
            "JobFlowRole": profile,
            "ServiceRole": service_role,
            "Instances": instances,
        } | given
        made.append(emr.run_job_flow(**asked)["JobFlowId"])
        return made[-1]

    yield start
    left = [each for each in made if state_of(emr, each) not in ENDED]
    emr.set_termination_protection(JobFlowIds=left or made[-1:], TerminationProtected=False)
    emr.terminate_job_flows(JobFlowIds=left or made[-1:])
