"""Job runs as the API shows them."""

from __future__ import annotations

from typing import Any

from localcloud.jobs import Attempt
from localcloud.services.emr_serverless.model import Application, SubmittedRun
from localcloud.services.emr_serverless.requests import read_timeout_minutes

_AS_ASKED = ("name", "jobDriver", "configurationOverrides", "retryPolicy", "executionIamPolicy")


def mode_of(submitted: SubmittedRun) -> str:
    """Return the mode of a run."""
    return str(submitted.asked_with.get("mode", "BATCH"))


def show_run(application: Application, submitted: SubmittedRun, attempt: Attempt) -> dict[str, Any]:
    """Return a run as GetJobRun shows it, by one of its attempts."""
    asked = submitted.asked_with
    shown = {
        **{name: asked[name] for name in _AS_ASKED if name in asked},
        **_common(application, submitted, attempt),
        "jobRunId": submitted.run.id,
        "tags": submitted.tags,
        "executionTimeoutMinutes": read_timeout_minutes(asked),
        "attemptCreatedAt": attempt.created,
        "attemptUpdatedAt": attempt.updated,
    }
    if network := application.settings.get("networkConfiguration"):
        shown["networkConfiguration"] = network
    if attempt.started:
        shown["startedAt"] = attempt.started
    if attempt.ended:
        shown["endedAt"] = attempt.ended
        begun = attempt.started or attempt.ended
        shown["totalExecutionDurationSeconds"] = int((attempt.ended - begun).total_seconds())
    return shown


def sum_up_run(
    application: Application, submitted: SubmittedRun, attempt: Attempt
) -> dict[str, Any]:
    """Return a run as lists show it."""
    return {
        **{name: value for name, value in submitted.asked_with.items() if name == "name"},
        **_common(application, submitted, attempt),
        "id": submitted.run.id,
        "type": application.settings["type"],
        "attemptCreatedAt": attempt.created,
        "attemptUpdatedAt": attempt.updated,
    }


def sum_up_attempt(
    application: Application, submitted: SubmittedRun, attempt: Attempt
) -> dict[str, Any]:
    """Return an attempt as lists show it."""
    shown = sum_up_run(application, submitted, attempt)
    del shown["attemptCreatedAt"], shown["attemptUpdatedAt"]
    return shown | {
        "jobCreatedAt": submitted.run.created,
        "createdAt": attempt.created,
        "updatedAt": attempt.updated,
    }


def _common(application: Application, submitted: SubmittedRun, attempt: Attempt) -> dict[str, Any]:
    return {
        "applicationId": application.id,
        "arn": submitted.arn,
        "createdBy": submitted.created_by,
        "createdAt": submitted.run.created,
        "updatedAt": attempt.updated,
        "executionRole": submitted.asked_with["executionRoleArn"],
        "state": attempt.state,
        "stateDetails": attempt.details,
        "releaseLabel": application.settings["releaseLabel"],
        "mode": mode_of(submitted),
        "attempt": attempt.number,
    }
