"""Job runs: each is a spark-submit on this machine, shown as EMR Serverless shows it."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from localcloud.children import describe_process
from localcloud.cloud import Cloud
from localcloud.door.control import describe
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.jobs import JobRun, JobSpec, Place, Runner, RunState
from localcloud.quotas import CONCURRENT_VCPUS, QuotaValues
from localcloud.services.emr_serverless.model import (
    PAGES,
    Application,
    Applications,
    SubmittedRun,
    application_operation,
    find_application,
    find_by_token,
    find_run,
)
from localcloud.services.emr_serverless.requests import (
    check_request,
    read_job,
    read_log_places,
    read_rule,
    read_timeout_minutes,
    size_run,
)
from localcloud.services.emr_serverless.views import (
    mode_of,
    show_run,
    sum_up_attempt,
    sum_up_run,
)
from localcloud.services.events.rules import send_event

_GRACE_SECONDS, _STOP_SECONDS = 15, 20
_STATE_CHANGE = "EMR Serverless Job Run State Change"


class RunningJobs:
    """The active runs, which end with localcloud."""

    def __init__(self) -> None:
        self._threads: list[tuple[JobRun, threading.Thread]] = []

    def start(self, cloud: Cloud, run: JobRun, work: Callable[[], None]) -> None:
        """Start a run in its own thread."""
        if not self._threads:
            cloud.on_stop(self.stop)
        thread = threading.Thread(target=work, name=f"job run {run.id}", daemon=True)
        self._threads.append((run, thread))
        thread.start()

    def stop(self) -> None:
        """Kill the active runs and wait for their end."""
        for run, _ in self._threads:
            run.cancel(0)
        for _, thread in self._threads:
            thread.join(_STOP_SECONDS)


@application_operation("StartJobRun")
def start_job_run(call: Call, applications: Applications) -> dict[str, Any]:
    """Start a run; the same client token starts it once."""
    application = find_application(call, applications)
    submitted = find_by_token(call.params, application.runs, "a job run")
    if submitted is None:
        check_request(call, application)
        submitted = _submit(call, applications, application)
    return {
        "applicationId": application.id,
        "jobRunId": submitted.run.id,
        "arn": submitted.arn,
    }


def _submit(call: Call, applications: Applications, application: Application) -> SubmittedRun:
    params, minutes = call.params, read_timeout_minutes(call.params)
    identity = f"00{secrets.token_hex(7)}"
    arn = f"{application.arn}/jobruns/{identity}"
    tell = _announcer(call, application, arn)
    run = JobRun(identity, read_rule(params), minutes * 60 or None, tell)
    spec = _specify(call, application, run)

    maximum, workers = application.settings.get("maximumCapacity", {}), size_run(spec.submission)

    @contextmanager
    def prepare() -> Iterator[None]:
        """Start the application, and hold the capacity of the run's workers."""
        with applications.lock:
            if application.state != "STARTED":
                application.go_to("STARTED")
        quota = call.cloud.state(QuotaValues).of(call.account, CONCURRENT_VCPUS)
        with (
            application.occupied.take(run.id, workers, maximum) as granted,
            applications.occupied.take(run.id, granted, {"cpu": f"{quota} vCPU"}),
        ):
            yield

    made = SubmittedRun(
        arn=arn,
        asked_with=params,
        created_by=call.caller.arn,
        tags=dict(params.get("tags", {})),
        runner=Runner(call.cloud, spec, run, prepare),
    )
    application.runs[run.id] = made
    call.cloud.state(RunningJobs).start(call.cloud, run, made.runner.work)
    return made


def _announcer(
    call: Call, application: Application, arn: str
) -> Callable[[RunState, RunState], None]:
    """Return a function that sends the event of a run's change of state."""

    def tell(old: RunState, new: RunState) -> None:
        detail = {
            "jobRunId": arn.rpartition("/")[2],
            "applicationId": application.id,
            "arn": arn,
            "releaseLabel": application.settings["releaseLabel"],
            "state": new,
            "previousState": old,
            "createdBy": call.caller.arn,
        }
        send_event(call.account, call.region, "aws.emr-serverless", _STATE_CHANGE, detail)

    return tell


def _specify(call: Call, application: Application, run: JobRun) -> JobSpec:
    params, network = call.params, application.settings.get("networkConfiguration", {})
    spark = params["jobDriver"]["sparkSubmit"]
    owner = f"applications/{application.id}/jobs/{run.id}"
    return JobSpec(
        region=call.region,
        place=Place(
            role_arn=params["executionRoleArn"],
            service="emr-serverless.amazonaws.com",
            takes_role="EMR Serverless",
            subnets=tuple(network.get("subnetIds", ())),
            groups=tuple(network.get("securityGroupIds", ())),
            session_policy=params.get("executionIamPolicy", {}).get("policy"),
            trust_context={"aws:SourceArn": application.arn},
        ),
        entry_point=spark["entryPoint"],
        arguments=tuple(spark.get("entryPointArguments", ())),
        submission=read_job(call, application),
        logs=read_log_places(params, application, owner),
    )


@application_operation("GetJobRun")
def get_job_run(call: Call, applications: Applications) -> dict[str, Any]:
    """Describe a run by its last attempt or the requested one."""
    application = find_application(call, applications)
    submitted = find_run(application, call.params["jobRunId"])
    attempts = submitted.run.attempts
    number = call.params.get("attempt", len(attempts))
    if number > len(attempts):
        said = f"Attempt {number} of JobRun {submitted.run.id} does not exist"
        raise AwsError("ResourceNotFoundException", said)
    return {"jobRun": show_run(application, submitted, attempts[number - 1])}


@application_operation("ListJobRuns")
def list_job_runs(call: Call, applications: Applications) -> dict[str, Any]:
    """List the runs of an application, the newest first, by state, mode and time."""
    application, asked = find_application(call, applications), call.params
    found = [
        each
        for each in reversed(application.runs.values())
        if (not asked.get("states") or each.run.state in asked["states"])
        and asked.get("mode", mode_of(each)) == mode_of(each)
        and _is_between(asked, each.run.created)
    ]
    page, more = PAGES.cut(call, found)
    return {"jobRuns": [sum_up_run(application, each, each.run.attempt) for each in page], **more}


@application_operation("ListJobRunAttempts")
def list_job_run_attempts(call: Call, applications: Applications) -> dict[str, Any]:
    """List the attempts of a run, the last first."""
    application = find_application(call, applications)
    submitted = find_run(application, call.params["jobRunId"])
    page, more = PAGES.cut(call, submitted.run.attempts[::-1])
    shown = [sum_up_attempt(application, submitted, each) for each in page]
    return {"jobRunAttempts": shown, **more}


@application_operation("CancelJobRun")
def cancel_job_run(call: Call, applications: Applications) -> dict[str, Any]:
    """Cancel a run; an ended one does not change."""
    application = find_application(call, applications)
    submitted = find_run(application, call.params["jobRunId"])
    submitted.run.cancel(call.params.get("shutdownGracePeriodInSeconds", _GRACE_SECONDS))
    return {"applicationId": application.id, "jobRunId": submitted.run.id}


@describe("job runs")
def describe_job_runs(cloud: Cloud) -> list[dict[str, Any]]:
    """List the active runs and their processes; a run's log has its id as name."""
    return [
        {
            "account": account,
            "region": region,
            "id": each.run.id,
            "name": each.asked_with.get("name"),
            "state": each.run.state,
            "attempt": each.run.attempt.number,
            **describe_process(each.runner.pid, 0.0),
        }
        for account, region, applications in cloud.states(Applications)
        for application in list(applications.by_id.values())
        for each in list(application.runs.values())
        if not each.run.state.final
    ]


def _is_between(asked: dict[str, Any], created: datetime) -> bool:
    """Return whether a time is within the requested bounds, which have no time zone."""
    plain = created.replace(tzinfo=None)
    after: datetime = asked.get("createdAtAfter", plain)
    before: datetime = asked.get("createdAtBefore", plain)
    return after <= plain <= before
