"""Terraform makes a schedule, and the schedule starts the run of its submit command."""

from __future__ import annotations

import json
import shlex
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.jobs import stop_application
from tests.fixtures.terraform import Terraform
from tools.local_root import copy_infra

pytestmark = [pytest.mark.terraform, pytest.mark.spark, pytest.mark.timeout(900)]

_ACCOUNT = "930000000004"
_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_NAME = "penstock-nightly-run-count"


@pytest.fixture
def fire(cloud):
    """Fire the schedule now; return the error, None if the run was started."""

    def post():
        asked = {"account": _ACCOUNT, "region": "eu-central-1", "group": _NAME, "schedule": _NAME}
        request = urllib.request.Request(
            f"{cloud.endpoint}/_localcloud/fire-schedule",
            json.dumps(asked).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["error"]

    return post


def test_a_schedule_of_a_run_is_applied_starts_it_and_is_destroyed(client, cloud, fire, tmp_path):
    copy_infra(_ROOT / "infra/modules", tmp_path / _HERE.name / "modules")
    root = Terraform(_HERE / "scheduled_run", tmp_path, cloud.endpoint, _ACCOUNT)
    given = {"pyfiles": str(_ROOT / "tests/data/tiny.zip"), "schedule": "cron(0 0 1 1 ? *)"}
    emr = client("emr-serverless", account=_ACCOUNT)

    root.apply(**given)
    assert not root.has_changes(**given)
    application = root.outputs()["application_id"]
    assert root.outputs()["schedules"] == [_NAME]
    assert emr.list_job_runs(applicationId=application)["jobRuns"] == []

    assert fire() is None

    (listed,) = emr.list_job_runs(applicationId=application)["jobRuns"]
    run = emr.get_job_run(applicationId=application, jobRunId=listed["id"])["jobRun"]
    # tests/e2e waits for runs of submit commands.
    emr.cancel_job_run(
        applicationId=application, jobRunId=listed["id"], shutdownGracePeriodInSeconds=0
    )
    words = shlex.split(root.outputs()["submit_commands"]["count"])[3:]
    asked = dict(zip(words[::2], words[1::2], strict=True))
    assert (run["name"], run["mode"]) == ("count", asked["--mode"])
    assert run["executionRole"] == asked["--execution-role-arn"]
    assert run["jobDriver"] == json.loads(asked["--job-driver"])
    assert run["jobDriver"]["sparkSubmit"]["entryPointArguments"][1] == "<b>"
    assert run["configurationOverrides"] == json.loads(asked["--configuration-overrides"])
    assert f":assumed-role/{_NAME}-schedule/" in run["createdBy"]

    stop_application(emr, application)
    root.destroy(**given)
