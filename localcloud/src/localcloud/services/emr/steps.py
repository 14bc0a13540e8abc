"""The steps of a cluster: each is a spark-submit with the role of the instance profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.jobs import (
    JobRun,
    JobSpec,
    LogPlaces,
    RetryRule,
    Runner,
    RunState,
    read_command,
)
from localcloud.jobs.interpreter import CLOSED
from localcloud.services.emr.bootstrap import HOME, home_of
from localcloud.services.emr.model import (
    ACTIVE,
    INVALID,
    PAGES,
    UNKNOWN,
    Cluster,
    Clusters,
    Step,
    cluster_operation,
    find_cluster,
    new_id,
)
from localcloud.services.emr.views import show_step, step_state
from localcloud.services.events.rules import send_event

_MAX_STEPS = 256
_MAX_CHARACTERS = 10_240  # of all strings of a step: API Reference, "AddJobFlowSteps"
_GRACE_SECONDS = {"SEND_INTERRUPT": 15.0, "TERMINATE_PROCESS": 0.0}
_RUNNER = "command-runner.jar"


@cluster_operation("AddJobFlowSteps")
def add_job_flow_steps(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Add steps to a cluster that has not ended."""
    cluster = clusters.by_id.get(call.params["JobFlowId"])
    if cluster is None:
        raise AwsError(INVALID, "Specified job flow ID does not exist.")
    if call.params.get("ExecutionRoleArn"):
        raise AwsError(
            INVALID, "localcloud runs steps as the instance profile: no ExecutionRoleArn"
        )
    with cluster.changed:
        check_active(cluster)
        made = add_steps(call, cluster, call.params["Steps"])
        cluster.changed.notify_all()
    return {"StepIds": [each.id for each in made]}


def check_active(cluster: Cluster) -> None:
    """Raise AwsError for a cluster that ends or has ended."""
    if cluster.state not in ACTIVE or cluster.ending is not None:
        said = "A job flow that is shutting down, terminated, or finished may not be modified."
        raise AwsError(INVALID, said)


def add_steps(call: Call, cluster: Cluster, asked: list[dict[str, Any]]) -> list[Step]:
    """Add steps to a cluster; none if one of them cannot run."""
    _check_actions(cluster, asked)
    _check_lengths(asked)
    if len(cluster.steps) + len(asked) > _MAX_STEPS:
        raise AwsError(INVALID, f"Maximum number of steps for job flow exceeded: {_MAX_STEPS}")
    made = [_build(call, cluster, each) for each in asked]
    cluster.steps += made
    return made


def _check_actions(cluster: Cluster, asked: list[dict[str, Any]]) -> None:
    """Refuse actions that EMR refuses where several steps may run: API Reference, "StepConfig"."""
    for step in asked if cluster.step_limit > 1 else []:
        action = step.get("ActionOnFailure", "CONTINUE")
        if action != "CONTINUE":
            raise AwsError(
                INVALID,
                f"ActionOnFailure {action} of the step {step['Name']} is not valid: the cluster's "
                f"StepConcurrencyLevel is {cluster.step_limit}, which needs CONTINUE",
            )


def _check_lengths(asked: list[dict[str, Any]]) -> None:
    for jar in (step["HadoopJarStep"] for step in asked):
        pairs = [text for each in jar.get("Properties", []) for text in each.values()]
        words = [jar["Jar"], jar.get("MainClass", ""), *jar.get("Args", []), *pairs]
        if sum(map(len, words)) > _MAX_CHARACTERS:
            raise AwsError(
                INVALID,
                "The string values passed into HadoopJarStep object cannot exceed a total of "
                f"{_MAX_CHARACTERS} characters.",
            )


def _build(call: Call, cluster: Cluster, asked: dict[str, Any]) -> Step:
    identity = new_id("s-")
    spec = _read_spec(cluster, asked, identity)
    run = JobRun(identity, RetryRule(), None, _announcer(cluster, asked, identity))
    runner = Runner(call.cloud, spec, run, nullcontext, finish=_controller(asked))
    return Step(asked, runner)


def _read_spec(cluster: Cluster, asked: dict[str, Any], identity: str) -> JobSpec:
    jar, name = asked["HadoopJarStep"], asked["Name"]
    words = [_place(word, cluster) for word in jar.get("Args", [])]
    if jar["Jar"].rpartition("/")[2] != _RUNNER or words[:1] != ["spark-submit"]:
        raise AwsError(
            INVALID,
            f"localcloud runs steps of {_RUNNER} with spark-submit; the step {name} is "
            f"{jar['Jar']} {' '.join(words[:1])}".rstrip(),
        )
    if "Spark" not in {each.get("Name") for each in cluster.asked.get("Applications", [])}:
        raise AwsError(INVALID, f"The step {name} needs the application Spark in the cluster")
    try:
        command = read_command(words[1:], _properties(cluster, "spark-defaults"))
    except ValueError as error:
        raise AwsError(INVALID, f"The step {name}: {error}") from error
    _check_containers(cluster, name, command.submission.settings)
    key = cluster.asked.get("LogEncryptionKmsKeyId")
    where = {"logUri": cluster.log_uri} | ({"encryptionKeyArn": key} if key else {})
    return JobSpec(
        region=cluster.region,
        place=cluster.place,
        entry_point=command.entry_point,
        arguments=command.arguments,
        submission=command.submission,
        logs=LogPlaces(f"{cluster.id}/steps/{identity}", where, {}, worker=""),
        exported=_exported(cluster),
    )


def _check_containers(cluster: Cluster, name: str, settings: Mapping[str, str]) -> None:
    """Refuse settings by which a container would read the home of hadoop; YARN's user cannot."""
    home = str(home_of(cluster))
    for setting, value in settings.items():
        if setting.startswith("spark.executorEnv.") and home in value:
            said = f"{setting} names {HOME}, which containers cannot read: they run as yarn"
            raise AwsError(INVALID, f"The step {name}: {said}; give them archives")


def _place(text: str, cluster: Cluster) -> str:
    """Return a text with the cluster's folder in place of the home of the user hadoop."""
    return text.replace(HOME, str(home_of(cluster)))


def _properties(cluster: Cluster, classification: str) -> dict[str, str]:
    return {
        name: _place(value, cluster)
        for each in cluster.asked.get("Configurations", [])
        if each["Classification"] == classification
        for name, value in each.get("Properties", {}).items()
    }


def _exported(cluster: Cluster) -> dict[str, str]:
    """Return the variables of spark-env.sh, which the driver gets in client mode.

    The user of YARN's containers cannot read the home of the driver's.
    """
    return {CLOSED: str(home_of(cluster))} | {
        name: _place(value, cluster)
        for each in cluster.asked.get("Configurations", [])
        if each["Classification"] == "spark-env"
        for export in each.get("Configurations", [])
        if export.get("Classification") == "export"
        for name, value in export.get("Properties", {}).items()
    }


def _controller(asked: dict[str, Any]) -> Callable[[Path, int | None], None]:
    """Return a function that writes the controller's log of a step."""

    def write(folder: Path, code: int | None) -> None:
        jar = asked["HadoopJarStep"]
        command = " ".join([jar["Jar"], *jar.get("Args", [])])
        how = "Step succeeded" if code == 0 else "Step failed"
        (folder / "controller").write_text(
            f"INFO startExec 'hadoop jar {command}'\nINFO {how} with exitCode {code}\n"
        )

    return write


def _announcer(
    cluster: Cluster, asked: dict[str, Any], identity: str
) -> Callable[[RunState, RunState], None]:
    """Return a function that sends the event of a step's change of state."""

    def tell(_old: RunState, new: RunState) -> None:
        if new in {RunState.RUNNING, RunState.SUCCESS, RunState.FAILED, RunState.CANCELLED}:
            state = {"SUCCESS": "COMPLETED"}.get(new, str(new))
            detail = {
                "clusterId": cluster.id,
                "stepId": identity,
                "name": asked["Name"],
                "actionOnFailure": asked.get("ActionOnFailure", "TERMINATE_CLUSTER"),
                "severity": "ERROR" if state == "FAILED" else "INFO",
                "state": state,
                "message": f"Step {identity} ({asked['Name']}) of {cluster.id} is {state}",
            }
            kind = "EMR Step Status Change"
            send_event(cluster.account, cluster.region, "aws.emr", kind, detail)

    return tell


@cluster_operation("DescribeStep")
def describe_step(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Describe a step."""
    cluster = find_cluster(clusters, call.params["ClusterId"])
    wanted = call.params["StepId"]
    for step in cluster.steps:
        if step.id == wanted:
            return {"Step": show_step(cluster, step)}
    raise AwsError(UNKNOWN, f"Step id '{wanted}' is not valid.")


@cluster_operation("ListSteps")
def list_steps(call: Call, clusters: Clusters) -> dict[str, Any]:
    """List the steps of a cluster, the newest first, by state and id."""
    cluster, asked = find_cluster(clusters, call.params["ClusterId"]), call.params
    found = [
        each
        for each in reversed(cluster.steps)
        if step_state(each) in asked.get("StepStates", [step_state(each)])
        and each.id in asked.get("StepIds", [each.id])
    ]
    page, more = PAGES.cut(call, found)
    return {"Steps": [show_step(cluster, each) for each in page], **more}


@cluster_operation("CancelSteps")
def cancel_steps(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Cancel steps: one that waits at once, one that runs by a signal."""
    cluster = find_cluster(clusters, call.params["ClusterId"])
    grace = _GRACE_SECONDS[call.params.get("StepCancellationOption", "SEND_INTERRUPT")]
    answers = []
    with cluster.changed:
        known = {step.id: step for step in cluster.steps}
        for identity in call.params["StepIds"]:
            accepted = identity in known and known[identity].cancel(grace)
            answer = {"StepId": identity, "Status": "SUBMITTED" if accepted else "FAILED"}
            if not accepted:
                answer["Reason"] = "The step does not exist or has already ended."
            answers.append(answer)
    return {"CancelStepsInfoList": answers}
