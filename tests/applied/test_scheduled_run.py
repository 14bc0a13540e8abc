"""Terraform makes a schedule, and the schedule starts a run that works."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from localcloud.testing import wait_until
from tests.e2e.jobs import stop_application
from tests.fixtures.terraform import Terraform
from tools.local_root import copy_infra

pytestmark = [pytest.mark.terraform, pytest.mark.spark, pytest.mark.timeout(900)]

_ACCOUNT = "930000000004"
_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_NAME = "penstock-nightly-run-count"
_ENDED = ("SUCCESS", "FAILED", "CANCELLED")


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
    emr, logs = (client(name, account=_ACCOUNT) for name in ("emr-serverless", "logs"))

    root.apply(**given)
    assert not root.has_changes(**given)
    application = root.outputs()["application_id"]
    assert root.outputs()["schedules"] == [_NAME]
    assert emr.list_job_runs(applicationId=application)["jobRuns"] == []

    assert fire() is None

    def ended():
        (run,) = emr.list_job_runs(applicationId=application)["jobRuns"]
        return run if run["state"] in _ENDED else None

    run = wait_until("the end of the run", ended, 600)
    assert (run["name"], run["state"]) == ("count", "SUCCESS"), run["stateDetails"]
    assert f":assumed-role/{_NAME}-schedule/" in run["createdBy"]
    events = logs.filter_log_events(logGroupName="/aws/emr-serverless/penstock-nightly-spark")
    assert "counted 1 <b>" in [event["message"].strip() for event in events["events"]]

    stop_application(emr, application)
    root.destroy(**given)
