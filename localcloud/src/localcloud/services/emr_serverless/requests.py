"""The request of StartJobRun: checked, and merged with the application's settings."""

from __future__ import annotations

from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.identity.roles import role_account
from localcloud.jobs import LogPlaces, RetryRule, Submission, read_places, read_submission
from localcloud.services.emr_serverless.capacity import Workers, read_workers
from localcloud.services.emr_serverless.model import INVALID, Application

_DEFAULTS = "spark-defaults"
# EMR Serverless User Guide, "Using EMR Serverless with AWS Lake Formation for fine-grained access
# control" and "Lake Formation full table access for EMR Serverless".
_FINE_GRAINED = "spark.emr-serverless.lakeformation.enabled"
_FULL_TABLE = "AWSLakeFormationCredentialResolver"
# EMR Serverless User Guide, "Other considerations", and API Reference, JobRun: 12 hours, for which
# they name no mode; assumption `run-timeouts`.
_TIMEOUT_MINUTES = 720
_MIN_TIMEOUT_MINUTES = 5
# API Reference, StartJobRun, and "EMR Serverless 7.11.0": from that release on, for BATCH.
_MAX_BATCH_MINUTES = 10080
_BOUNDED_SINCE = (7, 11)
_FAILED_PER_HOUR = 5


def check_request(call: Call, application: Application) -> None:
    """Raise AwsError for a request that cannot run."""
    params = call.params
    if role_account(params["executionRoleArn"]) != call.account:
        said = "Cross-account pass role is not allowed."
        raise AwsError("AccessDeniedException", said, status=403)
    if application.state == "TERMINATED":
        said = f"Application {application.id} is terminated. Cannot start job run."
        raise AwsError(INVALID, said)
    starts = application.settings["autoStartConfiguration"].get("enabled", True)
    if application.state != "STARTED" and not starts:
        said = f"Application {application.id} is {application.state} and does not start by itself"
        raise AwsError(INVALID, f"{said}; it must be STARTED")
    if "sparkSubmit" not in params.get("jobDriver", {}) or application.settings["type"] != "Spark":
        raise AwsError(INVALID, "Only spark-submit jobs on Spark applications are supported")
    if params.get("executionIamPolicy", {}).get("policyArns"):
        said = "executionIamPolicy is taken as a policy here and not by policyArns"
        raise AwsError(INVALID, said)
    _check_timeout(params, application.settings["releaseLabel"])


def _check_timeout(params: dict[str, Any], label: str) -> None:
    """Raise AwsError for a timeout that the mode of the run or the release does not have."""
    minutes = read_timeout_minutes(params)
    if 0 < minutes < _MIN_TIMEOUT_MINUTES:
        raise AwsError(INVALID, "RunTimeout must be at least 5 minutes.")
    release = label.removeprefix("emr-").removeprefix("spark-").split(".")
    is_bounded = tuple(map(int, release[:2])) >= _BOUNDED_SINCE
    is_batch = params.get("mode") != "STREAMING"
    if is_bounded and is_batch and not 0 < minutes <= _MAX_BATCH_MINUTES:
        said = (
            f"RunTimeout of a BATCH job run must be between {_MIN_TIMEOUT_MINUTES} and "
            f"{_MAX_BATCH_MINUTES} minutes on release {label}; found {minutes}"
        )
        raise AwsError(INVALID, said)


def read_job(call: Call, application: Application) -> Submission:
    """Return the submission: parameters, over the run's settings, over the application's."""
    spark = call.params["jobDriver"]["sparkSubmit"]
    overrides = call.params.get("configurationOverrides", {})
    settings: dict[str, str] = {}
    for entry in (
        *application.settings.get("runtimeConfiguration", []),
        *overrides.get("applicationConfiguration", []),
    ):
        if entry["classification"] != _DEFAULTS:
            said = (
                f"The classification {entry['classification']} is not supported, only {_DEFAULTS}"
            )
            raise AwsError(INVALID, said)
        settings.update(entry.get("properties", {}))
    try:
        submission = read_submission(spark.get("sparkSubmitParameters", ""), settings)
    except ValueError as error:
        raise AwsError(INVALID, f"sparkSubmitParameters: {error}") from error
    _check_lake_formation(submission)
    return submission


def _check_lake_formation(submission: Submission) -> None:
    """Refuse a run that reads with the rights of Lake Formation, not of its role."""
    for name, value in submission.settings.items():
        if (name == _FINE_GRAINED and value.lower() == "true") or _FULL_TABLE in value:
            raise AwsError(
                INVALID,
                "localcloud does not imitate Lake Formation's access control inside Spark: a run "
                f"reads and writes with the rights of its role on S3; found {name}={value}",
            )


def size_run(submission: Submission) -> Workers:
    """Return the workers of a run."""
    try:
        return read_workers(submission)
    except ValueError as error:
        raise AwsError(INVALID, str(error)) from error


def read_rule(params: dict[str, Any]) -> RetryRule:
    """Return the retry rule: a batch job has a total, a streaming job one per hour."""
    policy = params.get("retryPolicy", {})
    if params.get("mode") == "STREAMING":
        return RetryRule(None, policy.get("maxFailedAttemptsPerHour", _FAILED_PER_HOUR))
    return RetryRule(policy.get("maxAttempts", 1))


def read_timeout_minutes(params: dict[str, Any]) -> int:
    """Return the timeout of the run in minutes; 0 means no timeout."""
    return int(params.get("executionTimeoutMinutes", _TIMEOUT_MINUTES))


def read_log_places(params: dict[str, Any], application: Application, owner: str) -> LogPlaces:
    """Return the log places of the run, else those of the application."""
    overrides = params.get("configurationOverrides", {})
    fallback = application.settings.get("monitoringConfiguration", {})
    several = read_rule(params).max_attempts != 1
    return read_places(
        owner, overrides.get("monitoringConfiguration", fallback), by_attempt=several
    )
