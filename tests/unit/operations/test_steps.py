"""A job on a cluster is a step: added by its command, awaited, its log shown when it fails."""

from __future__ import annotations

import gzip
import io
import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from penstock.errors import JobError, OperationError
from penstock.operations import JobStep, submit_job, wait_for_job
from penstock.progress import ReportProgress, ignore_progress
from systems.sessions import make_session
from tests.fixtures.outputs import put_out

__all__ = ["put_out"]

_STEP = JobStep("eu-central-1", "j-1", "s-1")
_NAMED = {"ClusterId": "j-1", "StepId": "s-1"}
_WORDS = ["--deploy-mode", "client", "s3://b/jobs/sales.py", "totals", "it's"]


def _command() -> str:
    step = {"Type": "Spark", "Name": "totals", "ActionOnFailure": "CONTINUE", "Args": _WORDS}
    given = ["--region", "eu-central-1", "--cluster-id", "j-1", "--steps", json.dumps([step])]
    return shlex.join(["aws", "emr", "add-steps", *given])


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Stubber]]:
    """Clients that send nothing; what is built from here on is these."""
    session = make_session("222222222222")
    made = {name: Stubber(session.create_client(name)) for name in ("emr", "s3")}

    class Session:
        def create_client(self, service: str, config: Any = None) -> Any:
            return made[service].client

    monkeypatch.setattr("penstock.operations.clients.load_session", lambda **_: Session())
    for stub in made.values():
        stub.activate()
    yield made
    for stub in made.values():
        stub.assert_no_pending_responses()


def _answer(stubs: dict[str, Stubber], *states: str) -> None:
    for state in states:
        answer = {"Step": {"Id": "s-1", "Status": {"State": state}}}
        stubs["emr"].add_response("describe_step", answer, _NAMED)


def _keep_logs(stubs: dict[str, Stubber]) -> None:
    shown = {"Cluster": {"LogUri": "s3n://logs/emr/"}}
    stubs["emr"].add_response("describe_cluster", shown, {"ClusterId": "j-1"})


def _put_log(stubs: dict[str, Stubber], name: str, text: str | None) -> None:
    where = {"Bucket": "logs", "Key": f"emr/j-1/steps/s-1/{name}.gz"}
    if text is None:
        stubs["s3"].add_client_error("get_object", "NoSuchKey", expected_params=where)
    else:
        body = gzip.compress(text.encode())
        stream = StreamingBody(io.BytesIO(body), len(body))
        stubs["s3"].add_response("get_object", {"Body": stream}, where)


def _wait(report: ReportProgress = ignore_progress) -> list[float]:
    pauses: list[float] = []
    wait_for_job(_STEP, pauses.append, report)
    return pauses


def test_a_job_of_a_cluster_is_a_step_with_more_flags(
    stubs: dict[str, Stubber], put_out: Callable[..., Path]
) -> None:
    step = {
        "Name": "totals",
        "ActionOnFailure": "CONTINUE",
        "HadoopJarStep": {
            "Jar": "command-runner.jar",
            "Args": ["spark-submit", *_WORDS, "--top", "5"],
        },
    }
    expected = {"JobFlowId": "j-1", "Steps": [step]}
    stubs["emr"].add_response("add_job_flow_steps", {"StepIds": ["s-1"]}, expected)

    made = submit_job(put_out(submit_commands={"totals": _command()}), "totals", ["--top", "5"])

    assert made == _STEP
    assert str(made) == "step s-1 of cluster j-1"


def test_a_step_replaces_the_job_run_of_the_root_and_of_another_extension(
    stubs: dict[str, Stubber], put_out: Callable[..., Path]
) -> None:
    stubs["emr"].add_response("add_job_flow_steps", {"StepIds": ["s-1"]})
    run = {"submit_commands": {"totals": "aws emr-serverless start-job-run"}}
    cluster = {"submit_commands": {"totals": _command()}}

    assert submit_job(put_out(**run, cluster=cluster, sales=run), "totals") == _STEP


def test_a_cluster_that_has_ended_is_named(
    stubs: dict[str, Stubber], put_out: Callable[..., Path]
) -> None:
    ended = "A job flow that is shutting down, terminated, or finished may not be modified."
    stubs["emr"].add_client_error("add_job_flow_steps", "ValidationException", ended)

    said = "not added to cluster j-1: .* modified; a cluster ends when it is idle"
    with pytest.raises(OperationError, match=said):
        submit_job(put_out(submit_commands={"totals": _command()}), "totals")


def test_a_step_that_is_too_long_is_not_blamed_on_the_cluster(
    stubs: dict[str, Stubber], put_out: Callable[..., Path]
) -> None:
    long = "The string values passed into HadoopJarStep object cannot exceed a total of 10240"
    stubs["emr"].add_client_error("add_job_flow_steps", "ValidationException", f"{long}.")

    with pytest.raises(OperationError, match=r"not added to cluster j-1: .* a total of 10240$"):
        submit_job(put_out(submit_commands={"totals": _command()}), "totals")


def test_a_step_is_awaited(stubs: dict[str, Stubber]) -> None:
    _answer(stubs, "PENDING", "RUNNING", "COMPLETED")

    reports: list[Any] = []
    assert _wait(lambda *told: reports.append(told)) == [10.0, 10.0]
    assert [told[0] for told in reports] == [
        f"step s-1 of cluster j-1 is {state}" for state in ("PENDING", "RUNNING")
    ]


def test_the_log_of_a_failed_step_is_shown_when_it_comes(stubs: dict[str, Stubber]) -> None:
    _answer(stubs, "FAILED")
    _keep_logs(stubs)
    _put_log(stubs, "stderr", None)
    _put_log(stubs, "stdout", None)
    _put_log(stubs, "stderr", "\n".join(f"line {number}" for number in range(40)))
    _put_log(stubs, "stdout", "ValueError: no such luck")

    with pytest.raises(JobError) as failed:
        _wait()

    lines = str(failed.value).splitlines()
    assert lines[0] == "step s-1 of cluster j-1 is FAILED"
    assert (lines[1], lines[30], lines[31]) == ("line 10", "line 39", "ValueError: no such luck")


@pytest.mark.parametrize(
    ("cluster", "said"),
    [({}, "the cluster keeps no logs"), ({"LogUri": "s3n://logs/emr"}, "is not in s3://logs/emr/")],
)
def test_a_log_that_is_missing_is_said(
    stubs: dict[str, Stubber], cluster: dict[str, str], said: str
) -> None:
    _answer(stubs, "FAILED")
    stubs["emr"].add_response("describe_cluster", {"Cluster": cluster}, {"ClusterId": "j-1"})
    for _ in range(36 if cluster else 0):
        _put_log(stubs, "stderr", None)
        _put_log(stubs, "stdout", None)

    with pytest.raises(JobError, match=said):
        _wait()


def test_a_cluster_that_cannot_be_described_hides_no_failed_step(
    stubs: dict[str, Stubber],
) -> None:
    _answer(stubs, "FAILED")
    stubs["emr"].add_client_error("describe_cluster", "AccessDeniedException", "no")

    said = r"^step s-1 of cluster j-1 is FAILED\nits log is not known: .* no$"
    with pytest.raises(JobError, match=said):
        _wait()


def test_a_log_is_awaited_by_a_caller_whom_s3_denies_what_is_missing(
    stubs: dict[str, Stubber],
) -> None:
    """S3 says AccessDenied of an object that is missing to who may not list the bucket."""
    _answer(stubs, "FAILED")
    _keep_logs(stubs)
    for _ in range(2):
        stubs["s3"].add_client_error("get_object", "AccessDenied")
    _put_log(stubs, "stderr", "ValueError: no such luck")
    stubs["s3"].add_client_error("get_object", "AccessDenied")

    with pytest.raises(JobError, match=r"is FAILED\nValueError: no such luck$"):
        _wait()


def test_a_log_that_is_denied_to_the_end_is_said(stubs: dict[str, Stubber]) -> None:
    _answer(stubs, "FAILED")
    _keep_logs(stubs)
    for _ in range(72):
        stubs["s3"].add_client_error("get_object", "AccessDenied", "no.")

    said = (
        r"^step s-1 of cluster j-1 is FAILED\n"
        r"its log is not in s3://logs/emr/j-1/steps/s-1/ yet, or cannot be read: .* no\.$"
    )
    with pytest.raises(JobError, match=said):
        _wait()


def test_a_log_that_breaks_off_is_read_again(stubs: dict[str, Stubber]) -> None:
    _answer(stubs, "FAILED")
    _keep_logs(stubs)
    short = StreamingBody(io.BytesIO(b"a"), 2)  # IncompleteReadError
    stubs["s3"].add_response("get_object", {"Body": short})
    _put_log(stubs, "stdout", None)
    _put_log(stubs, "stderr", "ValueError: no such luck")
    _put_log(stubs, "stdout", None)

    with pytest.raises(JobError, match=r"is FAILED\nValueError: no such luck$"):
        _wait()


def test_a_cancelled_step_is_an_error(stubs: dict[str, Stubber]) -> None:
    _answer(stubs, "CANCELLED")

    with pytest.raises(JobError, match=r"^step s-1 of cluster j-1 is CANCELLED$"):
        _wait()


def test_a_step_that_cannot_be_described_is_an_error(stubs: dict[str, Stubber]) -> None:
    stubs["emr"].add_client_error("describe_step", "AccessDeniedException", "no.")

    said = r"^step s-1 of cluster j-1 cannot be described: .*; it may still run, see `penstock jobs"
    with pytest.raises(OperationError, match=said):
        _wait()
