"""Spark jobs of a consumer: submit them where its Terraform root says, with its arguments.

The output of the root is a command, which a person can paste into a shell too. A second output with
the request could disagree with it.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from penstock.errors import JobError, OperationError
from penstock.operations.clients import build_client
from penstock.operations.outputs import OTHER_ROOT, choose_entry, read_outputs
from penstock.operations.steps import ADD_STEPS, JobStep, add_step, explain_unknown, wait_for_step
from penstock.progress import ReportProgress, ignore_progress

_COMMAND = ["aws", "emr-serverless", "start-job-run"]
_NO_TEXT = {"configurationOverrides", "executionTimeoutMinutes", "jobDriver", "retryPolicy"}
_FINAL = ("SUCCESS", "FAILED", "CANCELLED")
_POLL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class JobRun:
    """A job run that EMR Serverless accepted."""

    application_id: str
    id: str
    region: str

    def __str__(self) -> str:
        return f"job run {self.id} of application {self.application_id}"


def submit_job(consumer: Path, job: str, flags: Sequence[str] = ()) -> JobRun | JobStep:
    """Submit a job of a consumer's Terraform root, or of its extensions, with the operator's keys.

    The command of the root decides between EMR Serverless and a cluster of EMR.

    Raises:
        OperationError: the root has no such job, or EMR rejects it.
    """
    remedy = f"see `submit_commands` in the outputs of {consumer}"
    command = choose_entry(read_commands(consumer), job, "job", remedy)
    words = shlex.split(command)
    if words[:3] == ADD_STEPS:
        return add_step(words[3:], flags)
    request = read_request(command)
    return _start(build_client("emr-serverless", region=request.pop("region")), request, flags)


def start_job(client: Any, command: str, flags: Sequence[str] = ()) -> JobRun:
    """Start a job by its submit command, with a client of EMR Serverless in place of `aws`.

    Args:
        client: a client with access to the account of the command.
        command: one value of the Terraform output `submit_commands`.
        flags: arguments of the job, after those of the command; the last of two equal flags counts.

    Raises:
        OperationError: the command is not a submit command, or EMR Serverless rejects the job.
    """
    request = read_request(command)
    del request["region"]
    return _start(client, request, flags)


def wait_for_job(
    run: JobRun | JobStep,
    pause: Callable[[float], None] = time.sleep,
    report: ReportProgress = ignore_progress,
) -> str:
    """Wait until a job run or a step has ended well, and return its state.

    `report` is called with each state before.

    Raises:
        JobError: it failed, or was cancelled; the message says why.
        OperationError: it cannot be asked, and may still run.
    """
    if isinstance(run, JobStep):
        return wait_for_step(run, pause, report)
    emr = build_client("emr-serverless", region=run.region)
    while True:
        try:
            asked = {"applicationId": run.application_id, "jobRunId": run.id}
            shown = emr.get_job_run(**asked)["jobRun"]
        except (ClientError, BotoCoreError) as error:
            raise explain_unknown(run, run.id, error) from error
        state: str = shown["state"]
        if state == "SUCCESS":
            return state
        if state in _FINAL:
            raise JobError(f"{run} is {state}: {shown['stateDetails'].rstrip('.')}")
        report(f"{run} is {state}", None, None)
        pause(_POLL_SECONDS)


def _start(client: Any, request: dict[str, Any], flags: Sequence[str]) -> JobRun:
    request["jobDriver"]["sparkSubmit"]["entryPointArguments"] += flags
    try:
        answer = client.start_job_run(**request)
    except (ClientError, BotoCoreError) as error:
        raise OperationError(f"the job was not submitted: {str(error).rstrip('.')}") from error
    return JobRun(answer["applicationId"], answer["jobRunId"], client.meta.region_name)


def read_commands(root: Path) -> dict[str, str]:
    """Return the submit commands of a root and of its extensions, by run.

    A step of a cluster replaces the job run of EMR Serverless: its job is to run there.

    Raises:
        OperationError: the outputs cannot be read, or have no submit commands.
    """
    outputs = read_outputs(root)
    if "submit_commands" not in outputs:
        found = f"found no output `submit_commands` in {root}"
        raise OperationError(f"{found}; apply it first, or {OTHER_ROOT}")
    of_extensions = (each.get("submit_commands") for each in outputs.values() if _is_map(each))
    commands = [outputs["submit_commands"], *filter(_is_map, of_extensions)]
    pairs = [pair for each in commands for pair in each.items()]
    return dict(sorted(pairs, key=lambda pair: pair[1].split()[:3] == ADD_STEPS))


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def read_request(command: str) -> dict[str, Any]:
    """Return the options of a submit command as arguments of the API.

    Raises:
        OperationError: it is no command of EMR Serverless.
    """
    words = shlex.split(command)
    if words[:3] != _COMMAND:
        raise OperationError(f"found {command!r:.80}, expected `{' '.join(_COMMAND)} ...`")
    request = {
        _argument(option): value for option, value in zip(words[3::2], words[4::2], strict=True)
    }
    return request | {name: json.loads(request[name]) for name in _NO_TEXT & request.keys()}


def _argument(option: str) -> str:
    """Return `--job-driver` as `jobDriver`."""
    first, *others = option.removeprefix("--").split("-")
    return first + "".join(map(str.capitalize, others))
