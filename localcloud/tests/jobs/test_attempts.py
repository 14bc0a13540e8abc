"""Job runs that fail, are tried again, and are cancelled."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from localcloud.command.logs import follow_log
from localcloud.services.emr_serverless.model import Applications
from localcloud.testing import is_running, wait_until

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
_FAIL_ONCE = """
import sys
import boto3
s3, bucket = boto3.client("s3"), sys.argv[1]
if not s3.list_objects_v2(Bucket=bucket, Prefix=sys.argv[2])["KeyCount"]:
    s3.put_object(Bucket=bucket, Key=sys.argv[2])
    raise ValueError("no such luck")
"""
_LAST = """
import subprocess, sys, time
import boto3
child = subprocess.Popen(["sleep", "300"])
boto3.client("s3").put_object(Bucket=sys.argv[1], Key=sys.argv[2], Body=str(child.pid))
time.sleep(300)
"""


def test_a_batch_that_fails_says_why(cloud, jobs):
    run = jobs.start("import sys\nprint('before')\nraise ValueError('no such luck')")

    ended = jobs.wait_end(run)

    details = ended["stateDetails"]
    said = "Job failed, please check complete logs in configured logging destination. ExitCode: 1."
    assert (ended["state"], details[: len(said)]) == ("FAILED", said)
    assert "ValueError: no such luck" in details
    assert "ValueError: no such luck" in jobs.read_log(run)  # where PySpark prints it
    assert "before" in list(follow_log(None, cloud.folder, run, once=True))
    kept = {path.name for path in (cloud.folder / "jobs" / run / "attempt-1").iterdir()}
    assert kept - {"authorities.p12"} == {"stdout", "stderr"}  # the job's files are deleted


def test_a_stream_that_fails_is_tried_again(jobs, boto3_parameters):
    run = jobs.start(_FAIL_ONCE, jobs.bucket, "once", mode="STREAMING", parameters=boto3_parameters)

    assert jobs.wait_end(run)["state"] == "SUCCESS"

    where = {"applicationId": jobs.application, "jobRunId": run}
    attempts = jobs.emr.list_job_run_attempts(**where)["jobRunAttempts"]
    states = [(each["attempt"], each["state"]) for each in attempts]
    assert states == [(2, "SUCCESS"), (1, "FAILED")]
    first = jobs.emr.get_job_run(**where, attempt=1)["jobRun"]
    assert (first["state"], first["executionTimeoutMinutes"]) == ("FAILED", 720)
    assert "no such luck" in jobs.read_log(run, attempt=1)
    listed = jobs.emr.list_job_runs(applicationId=jobs.application, mode="STREAMING")["jobRuns"]
    assert [(each["id"], each["attempt"]) for each in listed] == [(run, 2)]


def test_a_job_is_cancelled_with_all_that_it_started(cloud, jobs, boto3_parameters):
    run = jobs.start(_LAST, jobs.bucket, "pids", parameters=boto3_parameters)
    jobs.wait_running(run, "pids")
    body = jobs.client("s3").get_object(Bucket=jobs.bucket, Key="pids")["Body"].read()
    application = cloud.state(Applications, "111111111111", "eu-central-1").by_id[jobs.application]
    driver = application.runs[run].runner.pid
    assert jobs.get(run)["state"] == "RUNNING"
    assert is_running(driver)
    with pytest.raises(ClientError, match="has job runs that go on; cancel them first"):
        jobs.emr.stop_application(applicationId=jobs.application)

    where = {"applicationId": jobs.application, "jobRunId": run}
    jobs.emr.cancel_job_run(**where, shutdownGracePeriodInSeconds=1)

    assert jobs.wait_end(run)["state"] == "CANCELLED"
    wait_until("the end of its processes", lambda: not any(map(is_running, (driver, int(body)))))
    jobs.emr.cancel_job_run(**where)
    assert jobs.get(run)["state"] == "CANCELLED"
