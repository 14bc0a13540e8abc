"""The life of a job run: attempts, each with its process, until one is final."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from localcloud.errors import JobFailedError
from localcloud.jobs.driver import Driver
from localcloud.jobs.run import JobRun, RunState

_log = logging.getLogger(__name__)
_AGAIN_SECONDS = 1.0
_GRACE_SECONDS = 5.0
_SHOWN_LINES = 3
_TELLING = ("Error", "Exception")


def execute(
    run: JobRun,
    prepare: Callable[[], AbstractContextManager[None]],
    start: Callable[[int], Driver],
    deliver: Callable[[int], None],
) -> None:
    """Run attempts until one is the last.

    `prepare` starts the application and holds its capacity during an attempt, `start` starts an
    attempt, and `deliver` delivers its output.
    """
    while True:
        number = run.attempt.number
        try:
            try:
                state, details = _attempt(run, prepare, start)
            finally:
                deliver(number)
        except JobFailedError as error:
            state, details = RunState.FAILED, str(error)
        except Exception as error:  # a bug of ours: it must be visible in the run
            _log.exception("job run %s failed", run.id)
            state, details = RunState.FAILED, f"localcloud failed: {type(error).__name__}: {error}"
        if not run.end_attempt(state, details):
            return
        run.cancelling.wait(_AGAIN_SECONDS)


def _attempt(
    run: JobRun,
    prepare: Callable[[], AbstractContextManager[None]],
    start: Callable[[int], Driver],
) -> tuple[RunState, str]:
    run.go_to(RunState.PENDING)
    with prepare():
        return _drive(run, start)


def _drive(run: JobRun, start: Callable[[int], Driver]) -> tuple[RunState, str]:
    run.go_to(RunState.SCHEDULED)
    if run.cancelling.is_set():
        return RunState.CANCELLED, ""
    driver = start(run.attempt.number)
    run.adopt(driver.end)
    left = None if run.deadline is None else max(0.0, run.deadline - time.monotonic())
    code = driver.wait(left)
    if code is None:
        driver.end(_GRACE_SECONDS)
        driver.wait(None)
        return RunState.CANCELLED, "The job run reached its execution timeout and was cancelled"
    if code == 0:
        return RunState.SUCCESS, ""
    return RunState.FAILED, _explain(code, driver.outputs)


def _explain(code: int, outputs: Sequence[Path]) -> str:
    """Return EMR's description of a failure: the exit code and the printed exceptions.

    PySpark prints Python's standard error on the standard output.
    """
    printed = [path.read_text(errors="replace") for path in outputs]
    lines = [line.strip() for text in printed for line in text.splitlines()]
    telling = [line for line in lines if any(word in line for word in _TELLING)]
    return (
        "Job failed, please check complete logs in configured logging destination. "
        f"ExitCode: {code}. Last few exceptions: {' '.join(telling[-_SHOWN_LINES:])}"
    )
