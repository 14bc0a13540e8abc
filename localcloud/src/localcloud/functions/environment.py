"""An execution environment: one process of a function, one invocation at a time."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from localcloud.door.errors import AwsError
from localcloud.functions.log_streams import LogStream
from localcloud.functions.outcome import (
    Outcome,
    describe_error,
    describe_exit,
    describe_response,
    describe_timeout,
)
from localcloud.functions.process import FunctionProcess, Launch
from localcloud.functions.runtime_api import Event, LoadKeys, Report, ReportKind, RuntimeApi
from localcloud.functions.runtimes import Runtime
from localcloud.functions.spec import FunctionSpec

_INIT_SECONDS = 10.0
_SNAPSHOT_SECONDS = 130.0
_RESTORE_SECONDS = 10.0
_RESTORE_TOO_LONG = "Lambda couldn't restore the snapshot within the timeout limit."
_RESTORE_FAILED = (
    "The afterRestore() runtime hook encountered an error. For more information, check the Amazon "
    "CloudWatch logs."
)


class State(StrEnum):
    """The states of an environment."""

    STARTING = "starting"  # created for an invocation that waits for it
    FROZEN = "frozen"  # initialized, and stopped until an invocation restores it
    RESTORING = "restoring"
    BUSY = "busy"
    IDLE = "idle"
    STOPPED = "stopped"


# All transitions except those to STOPPED, which every state allows and which is final.
_STEPS = {
    (State.STARTING, State.BUSY),
    (State.STARTING, State.FROZEN),
    (State.FROZEN, State.RESTORING),
    (State.RESTORING, State.BUSY),
    (State.BUSY, State.IDLE),
    (State.IDLE, State.BUSY),
}


class ExecutionEnvironment:
    """A process behind a Runtime API, with a log stream; `spec` is the function it was started for.

    The constructor starts the process in the unpacked zip; `variables` come from role and network.
    """

    def __init__(
        self,
        spec: FunctionSpec,
        runtime: Runtime,
        folder: Path,
        variables: Mapping[str, str],
        load_keys: LoadKeys | None = None,
    ) -> None:
        self.spec = spec
        self.state = State.STARTING
        self.idle_since = time.monotonic()
        self.start_seconds = 0.0  # until it has started
        self._moving = threading.Lock()
        self._started = time.monotonic()
        self._init_ms: float | None = None
        self._restore_ms: float | None = None
        self._api = RuntimeApi(load_keys)
        self._stream = LogStream(spec)
        launch = Launch(
            command=runtime.command(spec.handler),
            folder=folder,
            variables=self._variables(runtime, folder, variables),
            memory_mb=spec.memory_mb,
        )
        self._process = FunctionProcess(launch, self._stream, self._note_exit)

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._process.pid

    def claim(self) -> bool:
        """Reserve it for an invocation; return whether it was idle."""
        return self._move(State.IDLE, State.BUSY)

    def claim_snapshot(self) -> bool:
        """Reserve it for an invocation that restores it; return whether it was frozen."""
        return self._move(State.FROZEN, State.RESTORING)

    def freeze(self) -> str | None:
        """Freeze it once it has initialized; return the error if it cannot.

        Lambda Developer Guide, "Lambda SnapStart runtime hooks for Python" (read 2026-11-27): the
        initialization may take 130 seconds or the timeout, whichever is longer.
        """
        self._stream.begin()
        report = self._next_report(max(_SNAPSHOT_SECONDS, self.spec.timeout_seconds))
        if report is None or report.kind is not ReportKind.INITIALIZED:
            error, _ = self._judge(report, "")
            self.stop()
            return error
        self.start_seconds = time.monotonic() - self._started
        self._process.measure_memory_mb()
        self._process.drain_output()
        self._process.freeze()
        self._move(State.STARTING, State.FROZEN)
        return None

    def invoke(self, event: bytes, request_id: str) -> Outcome:
        """Run the handler once, until its answer, its exit or its timeout.

        Raises:
            AwsError: its snapshot cannot be restored.
        """
        self._stream.begin()
        if self.state is State.RESTORING:
            self._restore()
        error, payload = self._wait_init(request_id)
        if error is None:
            error, payload = self._handle(event, request_id)
        self.idle_since = time.monotonic()
        self._move(State.BUSY, State.IDLE)
        return Outcome(request_id, self.spec.version, payload, error, self._stream.tail())

    def stop(self) -> None:
        """Kill the process and everything it started; repeating it has no effect."""
        with self._moving:
            stopped, self.state = self.state is State.STOPPED, State.STOPPED
        if not stopped:
            self._process.kill()
            self._api.close()

    def _move(self, source: State, target: State) -> bool:
        """Change the state; return False if it changed meanwhile: a process may end at any time."""
        with self._moving:
            possible = self.state is source and (source, target) in _STEPS
            if possible:
                self.state = target
            return possible

    def _note_exit(self, code: int) -> None:
        self._process.drain_output()
        self._api.reports.put(Report(ReportKind.EXITED, return_code=code))
        self.stop()

    def _wait_init(self, request_id: str) -> tuple[str | None, bytes]:
        """Wait until the module is imported; return at once if it is."""
        if self.state is not State.STARTING:
            return None, b""
        report = self._next_report(_INIT_SECONDS + self.spec.timeout_seconds)
        self.start_seconds = time.monotonic() - self._started
        self._init_ms = self.start_seconds * 1e3
        if report is not None and report.kind is ReportKind.READY:
            self._process.measure_memory_mb()
            self._process.drain_output()  # what the import printed comes before START
            self._move(State.STARTING, State.BUSY)
            return None, b""
        error, payload = self._judge(report, request_id)
        self._end(request_id, 0.0, error)
        return error, payload

    def _restore(self) -> None:
        """Thaw it and wait until its hooks have run, for which Lambda allows 10 seconds.

        Raises:
            AwsError: the hooks fail, or take too long.
        """
        started = time.monotonic()
        self._process.thaw()
        self._api.restore()
        report = self._next_report(_RESTORE_SECONDS)
        self._restore_ms = (time.monotonic() - started) * 1e3
        self._process.drain_output()
        if report is not None and report.kind is ReportKind.READY:
            self._move(State.RESTORING, State.BUSY)
            return
        self.stop()
        if report is None:
            raise AwsError("SnapStartTimeoutException", _RESTORE_TOO_LONG, status=408)
        raise AwsError("SnapStartException", _RESTORE_FAILED)

    def _handle(self, event: bytes, request_id: str) -> tuple[str | None, bytes]:
        started = time.monotonic()
        self._stream.write(f"START RequestId: {request_id} Version: {self.spec.version}\n")
        self._api.send(Event(event, self._headers(request_id)))
        report = self._next_report(self.spec.timeout_seconds)
        error, payload = self._judge(report, request_id)
        self._end(request_id, (time.monotonic() - started) * 1e3, error)
        return error, payload

    def _next_report(self, seconds: float) -> Report | None:
        try:
            return self._api.reports.get(timeout=seconds)
        except queue.Empty:
            return None

    def _judge(self, report: Report | None, request_id: str) -> tuple[str | None, bytes]:
        """Return the error and payload of a report; stop an environment that cannot continue."""
        if report is None:
            self._process.measure_memory_mb()
            self.stop()
            seconds = self.spec.timeout_seconds
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            self._stream.write(f"{now} {request_id} Task timed out after {seconds:.2f} seconds\n")
            return describe_timeout(request_id, seconds)
        if report.kind is ReportKind.RESPONSE:
            return describe_response(report.body)
        if report.kind is ReportKind.ERROR:
            return describe_error(report.body)
        self.stop()
        if report.kind in {ReportKind.INIT_ERROR, ReportKind.RESTORE_ERROR}:
            return describe_error(report.body)
        return describe_exit(request_id, report.return_code)

    def _end(self, request_id: str, milliseconds: float, error: str | None) -> None:
        """Write Lambda's own log lines after an invocation."""
        memory_mb = self._process.measure_memory_mb()
        self._process.drain_output()
        report = (
            f"REPORT RequestId: {request_id}\tDuration: {milliseconds:.2f} ms\t"
            f"Billed Duration: {int(milliseconds) + 1} ms\tMemory Size: {self.spec.memory_mb} MB\t"
            f"Max Memory Used: {memory_mb} MB\t"
        )
        if self._init_ms is not None:
            report += f"Init Duration: {self._init_ms:.2f} ms\t"
            self._init_ms = None
        if self._restore_ms is not None:
            report += f"Restore Duration: {self._restore_ms:.2f} ms\t"
            self._restore_ms = None
        if error == "Sandbox.Timedout":
            report += "Status: timeout"
        elif self.state is State.STOPPED:
            report += f"Status: error\tError Type: {error}"
        self._stream.write(f"END RequestId: {request_id}\n", report + "\n")

    def _headers(self, request_id: str) -> dict[str, str]:
        deadline = int((time.time() + self.spec.timeout_seconds) * 1000)
        return {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": request_id,
            "Lambda-Runtime-Deadline-Ms": str(deadline),
            "Lambda-Runtime-Invoked-Function-Arn": self.spec.arn,
            "Lambda-Runtime-Trace-Id": f"Root=1-{deadline // 1000:08x}-{request_id[-12:]:0>24}",
        }

    def _variables(
        self, runtime: Runtime, folder: Path, given: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the environment variables of the process; localcloud's own are left out."""
        spec = self.spec
        own = dict(spec.variables)
        start = "snap-start" if spec.has_snapshot else "on-demand"
        path = [given.get("PYTHONPATH"), *map(str, runtime.folders), own.get("PYTHONPATH")]
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TZ": ":UTC",
            **own,
            **given,
            "PYTHONPATH": ":".join(filter(None, path)),
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{spec.runtime}",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(spec.memory_mb),
            "AWS_LAMBDA_FUNCTION_NAME": spec.name,
            "AWS_LAMBDA_FUNCTION_VERSION": spec.version,
            "AWS_LAMBDA_INITIALIZATION_TYPE": start,
            **(self._api.credentials_variables() if spec.has_snapshot else {}),
            "AWS_LAMBDA_LOG_GROUP_NAME": self._stream.group,
            "AWS_LAMBDA_LOG_STREAM_NAME": self._stream.name,
            "AWS_LAMBDA_RUNTIME_API": self._api.address,
            "AWS_REGION": spec.region,
            "AWS_DEFAULT_REGION": spec.region,
            "LAMBDA_TASK_ROOT": str(folder),
            "_HANDLER": spec.handler,
        }
