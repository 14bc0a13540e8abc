"""A schedule whose target is an operation of a service, such as StartJobRun of EMR Serverless."""

from __future__ import annotations

import json

import pytest

from localcloud.testing.policies import allow, make_role
from tests.fixtures.jobs import make_jobs
from tests.refusals import refusal
from tests.scheduler.schedule_roles import ACCOUNT, REGION, trust_of_group

_START = "arn:aws:scheduler:::aws-sdk:emrserverless:startJobRun"
_PRINTS = "import sys; print('started by', *sys.argv[1:])\n"


@pytest.fixture(scope="module")
def jobs(client):
    return make_jobs(client, ACCOUNT)


@pytest.fixture
def request_of_a_run(jobs):
    """The input of the target: a run of a small job, in PascalCase."""
    logs = {"S3MonitoringConfiguration": {"LogUri": f"s3://{jobs.bucket}/logs/"}}
    place = {
        "Classification": "spark-defaults",
        "Properties": {"spark.sql.shuffle.partitions": "1"},
    }
    return {
        "ApplicationId": jobs.application,
        "ClientToken": "<aws.scheduler.execution-id>",
        "ExecutionRoleArn": jobs.role,
        "JobDriver": {
            "SparkSubmit": {
                "EntryPoint": jobs.put("code/prints.py", _PRINTS),
                "EntryPointArguments": ["<aws.scheduler.scheduled-time>"],
            }
        },
        "ConfigurationOverrides": {
            "ApplicationConfiguration": [place],
            "MonitoringConfiguration": logs,
        },
    }


@pytest.fixture
def starts_jobs(client, jobs, asked, request_of_a_run):
    """A schedule that starts a run, and the role that may."""
    application = f"arn:aws:emr-serverless:{REGION}:{ACCOUNT}:/applications/{jobs.application}"
    passing = allow(
        "iam:PassRole",
        jobs.role,
        Condition={"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}},
    )
    starting = allow("emr-serverless:StartJobRun", application)
    role = make_role(client("iam"), trust_of_group(), starting, passing)
    asked["Target"] = {"Arn": _START, "RoleArn": role, "Input": json.dumps(request_of_a_run)}
    return asked


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_a_schedule_starts_a_run_as_its_role(scheduler, fire, jobs, starts_jobs):
    scheduler.create_schedule(**starts_jobs)

    fired = fire(starts_jobs)

    assert fired["error"] is None
    (made,) = jobs.emr.list_job_runs(applicationId=jobs.application)["jobRuns"]
    run = jobs.wait_end(made["id"])
    assert run["state"] == "SUCCESS", run["stateDetails"]
    assert (
        f":assumed-role/{starts_jobs['Target']['RoleArn'].rpartition('/')[2]}/"
        in (run["createdBy"])
    )
    assert run["jobDriver"]["sparkSubmit"]["entryPointArguments"] != [
        "<aws.scheduler.scheduled-time>"
    ]
    assert "started by 2" in jobs.read_log(made["id"])


def test_a_role_without_a_right_starts_no_run(scheduler, client, fire, jobs, starts_jobs):
    iam, rights = client("iam"), ["iam:PassRole", "emr-serverless:StartJobRun"]
    scheduler.create_schedule(**starts_jobs)
    before = jobs.emr.list_job_runs(applicationId=jobs.application)["jobRuns"]

    for right, missing in zip(rights, reversed(rights), strict=True):
        starts_jobs["Target"]["RoleArn"] = make_role(iam, trust_of_group(), allow(right))
        scheduler.update_schedule(**starts_jobs)
        assert f"is not authorized to perform: {missing}" in fire(starts_jobs)["error"]

    assert jobs.emr.list_job_runs(applicationId=jobs.application)["jobRuns"] == before


@pytest.mark.parametrize(
    ("arn", "said"),
    [
        ("aws-sdk:emrserverless:StartJobRun", "localcloud's schedules invoke Lambda functions"),
        ("aws-sdk:emr-serverless:startJobRun", "localcloud's schedules invoke Lambda functions"),
        ("aws-sdk:emrserverless:startJob", "startJob is not a supported api for the service"),
        ("aws-sdk:emrserverless:getJobRun", "getJobRun is not a supported api for the service"),
        ("aws-sdk:backup:startReportJob", "backup is not a supported service for a target."),
    ],
)
def test_an_operation_that_is_no_target_is_refused(scheduler, starts_jobs, arn, said):
    starts_jobs["Target"]["Arn"] = f"arn:aws:scheduler:::{arn}"

    code, message = refusal(scheduler.create_schedule, **starts_jobs)

    assert code == "ValidationException"
    assert said in message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ClientToken": None}, "Request payload is missing the following field(s): ClientToken."),
        (
            {"ApplicationId": None, "applicationId": "00f1"},
            "Request payload is missing the following field(s): ApplicationId.",
        ),
        ({"Mode": "BATCH", "mode": "BATCH"}, "The field(s) mode are not supported."),
        ({"JobDriver": "spark"}, "'spark' is no object"),
        ({"JobDriver": {"SparkSubmit": {}}}, "is missing the following field(s): EntryPoint."),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_input_that_is_no_request_of_the_operation_is_refused(
    scheduler, starts_jobs, request_of_a_run, change, said
):
    given = {name: value for name, value in (request_of_a_run | change).items() if value}
    starts_jobs["Target"]["Input"] = json.dumps(given)

    code, message = refusal(scheduler.create_schedule, **starts_jobs)

    assert code == "ValidationException"
    assert message.startswith("Invalid RequestJson provided. Reason ")
    assert said in message
