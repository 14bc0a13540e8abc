"""A job's parameters, its attempts and its process, without any Spark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from localcloud.jobs import (
    Driver,
    DriverLaunch,
    JobRun,
    RetryRule,
    RunState,
    execute,
    read_submission,
)
from localcloud.testing import is_running, wait_until

_LOCALCLOUD = Path(__file__).resolve().parents[2]
_HOLD = """
import sys
from pathlib import Path
from tests.jobs.test_processes import launch
from localcloud.jobs import Driver
driver = Driver(launch(Path(sys.argv[1]), "sleep 60 & echo $!; wait"))
print(driver.pid, flush=True)
driver.wait(None)
"""


def launch(folder, script):
    """A shell script in the place of a spark-submit."""
    return DriverLaunch(
        ("sh", "-c", script),
        folder,
        {"PATH": os.environ["PATH"]},
        folder / "stdout",
        folder / "stderr",
        folder / "log",
    )


def run_script(folder, script, rule=None, timeout_seconds=None):
    """Execute a run of a script; returns the run."""
    run = JobRun("1", rule or RetryRule(), timeout_seconds)

    def start(number):
        here = folder / str(number)
        here.mkdir()
        return Driver(launch(here, script))

    execute(run, nullcontext, start, lambda _number: None)
    return run


def states(run):
    return [attempt.state for attempt in run.attempts]


def test_parameters_are_parsed():
    read = read_submission(
        "--jars s3://b/1.jar,s3://b/2.jar --conf spark.a='x y' -c spark.b=1=2 --class=Main "
        "--driver-memory 2g --verbose",
        {"spark.b": "0", "spark.c": "3", "spark.jars": "s3://b/0.jar", "spark.files": "s3://b/f"},
    )

    assert read.flags == ("--class", "Main", "--driver-memory", "2g", "--verbose")
    assert read.settings == {"spark.a": "x y", "spark.b": "1=2", "spark.c": "3"}
    assert read.files == {
        "--jars": ("s3://b/1.jar", "s3://b/2.jar"),
        "--py-files": (),
        "--files": ("s3://b/f",),
        "--archives": (),
    }


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("--master yarn", "--master is set by EMR Serverless, a job must not set it"),
        ("--colour red", "--colour is not a supported parameter of spark-submit"),
        ("job.py", "job.py is not a supported parameter of spark-submit"),
        ("--jars", "--jars has no value"),
        ("--conf spark.a", "--conf spark.a has no value: write it as name=value"),
        ("--conf 'spark.a=1", "No closing quotation"),
    ],
)
def test_wrong_parameters_are_refused(parameters, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        read_submission(parameters, {})


def test_a_batch_is_tried_as_often_as_it_says(tmp_path):
    run = run_script(tmp_path, "echo AnError >&2; exit 3", RetryRule(2))
    assert states(run) == [RunState.FAILED, RunState.FAILED]
    assert run.attempt.details.endswith("ExitCode: 3. Last few exceptions: AnError")


def test_a_stream_is_tried_until_it_failed_too_often_in_an_hour():
    rule = RetryRule(None, 2)
    assert rule.allows(1, [0.0], 1.0)
    assert not rule.allows(2, [0.0, 1.0], 2.0)
    assert rule.allows(99, [0.0, 3590.0], 3601.0)


def test_a_run_that_takes_too_long_is_cancelled_and_not_tried_again(tmp_path):
    run = run_script(tmp_path, "sleep 60", RetryRule(3), timeout_seconds=0.5)
    assert states(run) == [RunState.CANCELLED]
    said = "The job run reached its execution timeout and was cancelled"
    assert run.attempt.details == said


def test_a_run_that_is_cancelled_before_it_starts_never_starts(tmp_path):
    run = JobRun("1", RetryRule(), None)
    run.cancel(0)
    execute(run, nullcontext, lambda _: pytest.fail("it starts"), lambda _: None)
    assert states(run) == [RunState.CANCELLED]


def test_a_run_that_is_cancelled_while_it_starts_is_ended(tmp_path):
    run, drivers = JobRun("1", RetryRule(), None), []

    def start(_number):
        drivers.append(Driver(launch(tmp_path, "sleep 20")))
        run.cancel(0)
        return drivers[0]

    execute(run, nullcontext, start, lambda _: None)
    assert states(run) == [RunState.CANCELLED]
    assert drivers[0].wait(0) == -signal.SIGKILL


def test_a_job_that_does_not_heed_its_end_is_killed(tmp_path):
    driver = Driver(launch(tmp_path, "trap '' TERM; echo up; while :; do sleep 1; done"))
    wait_until("its start", lambda: (tmp_path / "log").exists() and (tmp_path / "log").read_text())
    driver.end(0.5)
    assert driver.wait(60) not in {0, None}


def test_each_change_of_state_is_announced_except_a_retried_failure():
    told = []
    run = JobRun("1", RetryRule(max_attempts=2), None, lambda *change: told.append(change))

    def prepare():
        raise KeyError("x")

    execute(run, prepare, lambda _: pytest.fail("it starts"), lambda _: None)

    submitted, pending, failed = RunState.SUBMITTED, RunState.PENDING, RunState.FAILED
    assert told == [(submitted, pending), (submitted, pending), (pending, failed)]


def test_an_unexpected_error_fails_the_run():
    run = JobRun("1", RetryRule(), None)

    def prepare():
        raise KeyError("x")

    execute(run, prepare, lambda _: pytest.fail("it starts"), lambda _: None)
    assert run.attempt.details == "localcloud failed: KeyError: 'x'"


def test_output_goes_to_two_files_and_the_log(tmp_path):
    run = run_script(tmp_path, "echo out; echo err >&2; read line || echo closed")
    assert states(run) == [RunState.SUCCESS]
    folder = tmp_path / "1"
    assert (folder / "stdout").read_text() == "out\nclosed\n"
    assert (folder / "stderr").read_text() == "err\n"
    assert sorted((folder / "log").read_text().split()) == ["closed", "err", "out"]


def test_kill_9_of_localcloud_leaves_no_job_behind(tmp_path):
    command = [sys.executable, "-c", _HOLD, str(tmp_path)]
    process = subprocess.Popen(command, cwd=_LOCALCLOUD, stdout=subprocess.PIPE, text=True)
    with process.stdout as said:
        driver = int(said.readline())
    child = wait_until(
        "its child", lambda: (tmp_path / "stdout").exists() and (tmp_path / "stdout").read_text()
    )
    assert is_running(driver) and is_running(int(child))

    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    wait_until("its end", lambda: not is_running(driver) and not is_running(int(child)))
