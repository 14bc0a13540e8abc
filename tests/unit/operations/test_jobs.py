"""A job is submitted as the command of its name says, through the API in place of `aws`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import NoRegionError
from botocore.stub import Stubber

from penstock.errors import JobError, OperationError
from penstock.operations import JobRun, start_job, submit_job, wait_for_job
from systems.sessions import make_session
from tests.fixtures.outputs import put_out

__all__ = ["put_out"]

_ROLE = "arn:aws:iam::222222222222:role/penstock-analytics-spark"
_OVERRIDES = {"monitoringConfiguration": {"cloudWatchLoggingConfiguration": {"enabled": True}}}
_RETRIES = {"maxFailedAttemptsPerHour": 5}
_ANSWER = {"applicationId": "00a", "jobRunId": "00b", "arn": "a" * 60}


def command_of(*words: str) -> str:
    """A command as Terraform puts it out."""
    given = {
        "region": "eu-central-1",
        "application-id": "00a",
        "execution-role-arn": _ROLE,
        "name": "replay",
        "mode": "STREAMING",
        "execution-timeout-minutes": "0",
        "retry-policy": json.dumps(_RETRIES),
        "job-driver": json.dumps(driver_of(*words)),
        "configuration-overrides": json.dumps(_OVERRIDES),
    }
    options = [word for name, value in given.items() for word in (f"--{name}", value)]
    return shlex.join(["aws", "emr-serverless", "start-job-run", *options])


def driver_of(*words: str) -> dict[str, Any]:
    return {"sparkSubmit": {"entryPoint": "s3://b/it's", "entryPointArguments": list(words)}}


def request_of(*words: str) -> dict[str, Any]:
    """The request that the command stands for."""
    return {
        "applicationId": "00a",
        "configurationOverrides": _OVERRIDES,
        "executionRoleArn": _ROLE,
        "executionTimeoutMinutes": 0,
        "jobDriver": driver_of(*words),
        "mode": "STREAMING",
        "name": "replay",
        "retryPolicy": _RETRIES,
    }


@pytest.fixture
def emr(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client that sends nothing; what is built from here on is this one."""
    client = make_session("222222222222").create_client("emr-serverless")

    class Session:
        def create_client(self, service: str, config: Any = None) -> Any:
            assert service == "emr-serverless"
            return client

    monkeypatch.setattr("penstock.operations.clients.load_session", lambda **_: Session())
    with Stubber(client) as stub:
        yield stub
        stub.assert_no_pending_responses()


def test_a_command_is_sent_as_a_request_with_more_flags(emr: Stubber) -> None:
    words = request_of("--which", "due", "--reason", "a 'b'")
    emr.add_response("start_job_run", _ANSWER, words)

    run = start_job(emr.client, command_of("--which", "due"), ["--reason", "a 'b'"])

    assert run == JobRun("00a", "00b", "eu-central-1")


def test_a_job_is_submitted_by_its_name(emr: Stubber, put_out: Callable[..., Path]) -> None:
    root = put_out(submit_commands={"consume": "", "replay": command_of()})
    emr.add_response("start_job_run", _ANSWER, request_of("--attempts", "0"))

    assert submit_job(root, "replay", ["--attempts", "0"]) == JobRun("00a", "00b", "eu-central-1")


def test_a_job_of_an_extension_is_found(emr: Stubber, put_out: Callable[..., Path]) -> None:
    extension = {"submit_commands": {"fold": command_of()}, "lake_principals": {}}
    root = put_out(submit_commands={"consume": ""}, secret_arn="arn", sales=extension)
    emr.add_response("start_job_run", _ANSWER, request_of())

    assert submit_job(root, "fold") == JobRun("00a", "00b", "eu-central-1")


def _answer(emr: Stubber, *states: str) -> None:
    shown = {
        **dict.fromkeys(("arn", "createdBy", "executionRole", "releaseLabel"), "a" * 60),
        "applicationId": "00a",
        "jobRunId": "00b",
        "stateDetails": "No such file.",
        "createdAt": 0,
        "updatedAt": 0,
        "jobDriver": driver_of(),
    }
    for state in states:
        asked = {"applicationId": "00a", "jobRunId": "00b"}
        emr.add_response("get_job_run", {"jobRun": shown | {"state": state}}, asked)


def test_a_job_run_is_awaited(emr: Stubber) -> None:
    pauses: list[float] = []
    _answer(emr, "PENDING", "RUNNING", "SUCCESS")

    reports: list[Any] = []

    state = wait_for_job(
        JobRun("00a", "00b", "eu-central-1"), pauses.append, lambda *told: reports.append(told)
    )

    assert (state, pauses) == ("SUCCESS", [10, 10])
    assert reports == [
        (f"job run 00b of application 00a is {state}", None, None)
        for state in ("PENDING", "RUNNING")
    ]


@pytest.mark.parametrize("state", ["FAILED", "CANCELLED"])
def test_a_job_run_that_failed_is_an_error_with_the_reason(emr: Stubber, state: str) -> None:
    _answer(emr, state)

    message = f"^job run 00b of application 00a is {state}: No such file$"
    with pytest.raises(JobError, match=message):
        wait_for_job(JobRun("00a", "00b", "eu-central-1"))


def test_a_job_run_that_cannot_be_asked_may_still_run(emr: Stubber) -> None:
    emr.add_client_error("get_job_run", "ExpiredTokenException", "expired.")

    said = r"00a cannot be described: .* expired; it may still run, see `penstock jobs show 00b`$"
    with pytest.raises(OperationError, match=said):
        wait_for_job(JobRun("00a", "00b", "eu-central-1"))


def test_errors_of_the_service_are_passed_on(emr: Stubber) -> None:
    emr.add_client_error("start_job_run", "AccessDeniedException", "no such role.")

    with pytest.raises(OperationError, match=r"^the job was not submitted: .* no such role$"):
        start_job(emr.client, command_of())


@pytest.mark.parametrize(("commands", "known"), [({"consume": ""}, "consume"), ({}, "none")])
def test_an_unknown_job_is_rejected_with_the_known_ones(
    put_out: Callable[..., Path], commands: dict[str, str], known: str
) -> None:
    with pytest.raises(OperationError, match=f"no job 'fold', expected one of: {known}; see"):
        submit_job(put_out(submit_commands=commands), "fold")


def test_another_command_is_rejected(emr: Stubber) -> None:
    message = r"^found 'rm -r x', expected `aws emr-serverless start-job-run ...`$"
    with pytest.raises(OperationError, match=message):
        start_job(emr.client, "rm -r x")


def test_a_missing_region_is_an_error(
    put_out: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: Any) -> Any:
        raise NoRegionError

    monkeypatch.setattr("penstock.operations.clients.load_session", fail)

    message = "the client of emr-serverless cannot be built: You must specify a region$"
    with pytest.raises(OperationError, match=message):
        submit_job(put_out(submit_commands={"consume": command_of()}), "consume")
