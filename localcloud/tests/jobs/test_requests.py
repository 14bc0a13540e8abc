"""What is asked of job runs: what is refused, what fails at once, what is listed."""

from __future__ import annotations

import json
import re

import pytest
from botocore.exceptions import ClientError

from tests.fixtures.jobs import make_job_role, make_jobs

_ACCOUNT = "111111111111"
_NO_RUN = "00ffffffffffffff"
_INVALID = "ValidationException"


def _submit(jobs, **settings):
    return jobs.submit({"entryPoint": f"s3://{jobs.bucket}/nothing.py"}, **settings)


def test_a_missing_entry_point_fails_the_run(client, jobs):
    missing = jobs.wait_end(_submit(jobs))
    local = jobs.wait_end(jobs.submit({"entryPoint": "/job.py"}))
    role = make_job_role(client, _ACCOUNT, "logs:*")
    forbidden = jobs.wait_end(_submit(jobs, executionRoleArn=role))

    place = f"s3://{jobs.bucket}/nothing.py cannot be read: "
    said = f"{place}NoSuchKey: The specified key does not exist."
    assert (missing["state"], missing["stateDetails"]) == ("FAILED", said)
    assert jobs.read_log(missing["jobRunId"], "stderr") == f"{said}\n"
    assert local["stateDetails"] == "/job.py is not an object on S3, expected s3://bucket/key"
    assert forbidden["stateDetails"].startswith(f"{place}AccessDenied: User: ")


def test_a_role_that_does_not_trust_emr_fails_the_run(client, jobs):
    trusted = make_job_role(client, "333333333333", "s3:*")  # on behalf of another account
    for role in (trusted, f"arn:aws:iam::{_ACCOUNT}:role/nobody"):
        ended = jobs.wait_end(_submit(jobs, executionRoleArn=role))
        said = f"Could not assume runtime role {role} because it does not exist or is not set up"
        assert ended["stateDetails"].startswith(said)


def test_a_run_that_does_not_fit_into_its_application_fails(client):
    small = make_jobs(client, _ACCOUNT, maximumCapacity={"cpu": "4 vCPU", "memory": "64 GB"})

    ended = small.wait_end(_submit(small))

    said = "as the application has exceeded maximumCapacity settings: [cpu: 4 vCPU]"
    assert ended["state"] == "FAILED"
    assert ended["stateDetails"].startswith("ApplicationMaxCapacityExceededException: Worker could")
    assert ended["stateDetails"].endswith(said)


def test_the_policy_of_a_run_narrows_its_role(jobs):
    nothing = {"Effect": "Allow", "Action": "logs:*", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [nothing]})

    ended = jobs.wait_end(_submit(jobs, executionIamPolicy={"policy": policy}))

    assert "AccessDenied" in ended["stateDetails"]


def test_the_same_token_begins_one_run(jobs):
    run = _submit(jobs, clientToken="t")
    assert _submit(jobs, clientToken="t") == run
    with pytest.raises(jobs.emr.exceptions.ConflictException, match="used for a job run with"):
        _submit(jobs, clientToken="t", name="other")
    jobs.wait_end(run)  # while it goes on, it holds all that its account may use


def test_a_run_has_the_timeout_of_its_request_or_half_a_day(client):
    old = make_jobs(client, _ACCOUNT, releaseLabel="emr-7.10.0")
    new = make_jobs(client, _ACCOUNT)
    asked = [
        (old, {}),
        (old, {"executionTimeoutMinutes": 0}),
        (old, {"executionTimeoutMinutes": 20000}),
        (new, {"executionTimeoutMinutes": 10080}),
        (new, {"mode": "STREAMING"}),
        (new, {"mode": "STREAMING", "executionTimeoutMinutes": 0}),
        (new, {"mode": "STREAMING", "executionTimeoutMinutes": 20000}),
    ]

    ended = [jobs.wait_end(_submit(jobs, **settings)) for jobs, settings in asked]

    minutes = [each["executionTimeoutMinutes"] for each in ended]
    assert minutes == [720, 0, 20000, 10080, 720, 0, 20000]


@pytest.fixture
def refused(jobs):
    """Submit a run that is rejected: a function that returns the error's code and message."""

    def refused(**settings):
        with pytest.raises(ClientError) as caught:
            _submit(jobs, **settings)
        error = caught.value.response["Error"]
        return error["Code"], error["Message"]

    return refused


def test_a_run_of_an_application_that_cannot_start_is_rejected(client, jobs, refused):
    hive = client("emr-serverless").create_application(releaseLabel="emr-spark-8.1.0", type="HIVE")
    by_hand = client("emr-serverless").create_application(
        releaseLabel="emr-spark-8.1.0", type="SPARK", autoStartConfiguration={"enabled": False}
    )["applicationId"]
    gone = client("emr-serverless").create_application(releaseLabel="emr-spark-8.1.0", type="SPARK")
    jobs.emr.delete_application(applicationId=gone["applicationId"])
    assert refused(applicationId=_NO_RUN) == (
        "ResourceNotFoundException",
        f"Application {_NO_RUN} does not exist",
    )
    assert refused(applicationId=by_hand) == (
        _INVALID,
        f"Application {by_hand} is CREATED and does not start by itself; it must be STARTED",
    )
    assert refused(applicationId=gone["applicationId"]) == (
        _INVALID,
        f"Application {gone['applicationId']} is terminated. Cannot start job run.",
    )
    assert refused(applicationId=hive["applicationId"]) == (
        _INVALID,
        "Only spark-submit jobs on Spark applications are supported",
    )


def test_an_invalid_run_is_rejected(jobs, refused):
    environment = {"applicationConfiguration": [{"classification": "spark-env"}]}
    assert refused(executionRoleArn="arn:aws:iam::222222222222:role/job") == (
        "AccessDeniedException",
        "Cross-account pass role is not allowed.",
    )
    assert refused(executionTimeoutMinutes=4) == (
        _INVALID,
        "RunTimeout must be at least 5 minutes.",
    )
    for minutes in (0, 10081):
        assert refused(executionTimeoutMinutes=minutes) == (
            _INVALID,
            "RunTimeout of a BATCH job run must be between 5 and 10080 minutes on release "
            f"emr-spark-8.1.0; found {minutes}",
        )
    assert refused(configurationOverrides=environment) == (
        _INVALID,
        "The classification spark-env is not supported, only spark-defaults",
    )
    assert refused(executionIamPolicy={"policyArns": ["arn:aws:iam::aws:policy/ReadOnly"]}) == (
        _INVALID,
        "executionIamPolicy is taken as a policy here and not by policyArns",
    )
    with pytest.raises(
        ClientError, match="--master is set by EMR Serverless, a job must not set it"
    ):
        jobs.start("", parameters="--master yarn")


@pytest.mark.parametrize(
    "setting",
    [
        "spark.emr-serverless.lakeformation.enabled=true",
        "spark.hadoop.fs.s3.credentialsResolverClass=a.b.AWSLakeFormationCredentialResolver",
    ],
)
def test_a_run_that_reads_with_the_rights_of_lake_formation_is_refused(jobs, setting):
    said = (
        "localcloud does not imitate Lake Formation's access control inside Spark: a run reads and "
        f"writes with the rights of its role on S3; found {setting}"
    )

    with pytest.raises(ClientError, match=re.escape(said)):
        jobs.start("", parameters=f"--conf {setting}")


def test_a_missing_run_is_not_found(jobs):
    where = {"applicationId": jobs.application, "jobRunId": _NO_RUN}
    for call in (jobs.emr.get_job_run, jobs.emr.cancel_job_run, jobs.emr.list_job_run_attempts):
        with pytest.raises(ClientError, match=f"JobRun {_NO_RUN} does not exist"):
            call(**where)
    run = _submit(jobs)
    with pytest.raises(ClientError, match=f"Attempt 9 of JobRun {run} does not exist"):
        jobs.emr.get_job_run(applicationId=jobs.application, jobRunId=run, attempt=9)
    jobs.wait_end(run)


def test_runs_have_tags_and_are_listed_by_state_and_page(client):
    jobs = make_jobs(client, _ACCOUNT)
    runs = [jobs.wait_end(_submit(jobs, tags={"n": str(n)})) for n in range(2)]
    listed = jobs.emr.get_paginator("list_job_runs").paginate(
        applicationId=jobs.application, states=["FAILED"], PaginationConfig={"PageSize": 1}
    )
    found = [each["id"] for page in listed for each in page["jobRuns"]]
    assert ["NoSuchKey" in run["stateDetails"] for run in runs] == [True, True]
    none = jobs.emr.list_job_runs(applicationId=jobs.application, states=["RUNNING"])
    assert (found, none["jobRuns"]) == ([run["jobRunId"] for run in runs[::-1]], [])
    later = jobs.emr.list_job_runs(
        applicationId=jobs.application, createdAtAfter=runs[1]["createdAt"].replace(year=2099)
    )
    assert later["jobRuns"] == []

    jobs.emr.tag_resource(resourceArn=runs[0]["arn"], tags={"more": "1"})

    tags = jobs.emr.list_tags_for_resource(resourceArn=runs[0]["arn"])["tags"]
    assert tags == {"n": "0", "more": "1"}
