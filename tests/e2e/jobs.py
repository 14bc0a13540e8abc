"""The end of an application of EMR Serverless, without which Terraform cannot delete it."""

from __future__ import annotations

from typing import Any

from tests.fixtures.functions import wait_until

_ENDED = ("SUCCESS", "FAILED", "CANCELLED")


def stop_application(emr: Any, application: str) -> None:
    """Wait until its jobs have ended, and stop it if one had started it."""
    asked = {"applicationId": application}
    wait_until(
        "no job runs any more",
        lambda: all(run["state"] in _ENDED for run in emr.list_job_runs(**asked)["jobRuns"]),
        60,
    )
    if emr.get_application(**asked)["application"]["state"] == "STARTED":
        emr.stop_application(**asked)
