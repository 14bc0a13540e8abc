"""A function's output as a log stream of CloudWatch Logs (moto's), and a tail of it."""

from __future__ import annotations

import fcntl
import os
import secrets
import selectors
import threading
import time
from datetime import UTC, datetime
from typing import IO

from moto.logs.models import logs_backends

from localcloud.functions.spec import FunctionSpec
from localcloud.identity.permissions import may
from localcloud.identity.roles import is_role_arn
from localcloud.metrics import record_embedded

_TAIL_BYTES = 4096
_CHUNK_BYTES = 65536
_writing = threading.Lock()  # moto's log groups are not thread-safe


class LogStream:
    """The stream of one execution environment; `tail` is the output of one invocation.

    The constructor creates the stream, and the log group if it is missing. Lambda writes with the
    function's role: without the rights the lines are lost, and nobody is told.
    """

    def __init__(self, spec: FunctionSpec) -> None:
        self.group = spec.log_group
        today = datetime.now(UTC).strftime("%Y/%m/%d")
        self.name = f"{today}/[{spec.version}]{secrets.token_hex(16)}"
        self._place = spec.account, spec.region
        self._logs = logs_backends[spec.account][spec.region]
        self._invocation: list[str] = []
        self._allowed = self._may_write(spec)
        if self._allowed:
            with _writing:
                self._logs.ensure_log_group(self.group)
                self._logs.create_log_stream(self.group, self.name)

    def write(self, *lines: str) -> None:
        """Write lines, each as one log event, and record the metrics in them."""
        now = int(time.time() * 1000)
        self._invocation += lines
        if not self._allowed:
            return
        with _writing:
            if self.group not in self._logs.groups:
                return  # deleted while the function runs: later lines are lost, as on AWS
            self._logs.put_log_events(
                self.group, self.name, [{"timestamp": now, "message": line} for line in lines]
            )
        record_embedded(*self._place, lines)  # CloudWatch reads the metrics from the log

    def _may_write(self, spec: FunctionSpec) -> bool:
        group = f"arn:aws:logs:{spec.region}:{spec.account}:log-group:{self.group}"
        stream = f"{group}:log-stream:{self.name}"
        needed = [("logs:CreateLogStream", stream), ("logs:PutLogEvents", stream)]
        if self.group not in self._logs.groups:
            needed.append(("logs:CreateLogGroup", f"{group}:"))
        return not is_role_arn(spec.role_arn) or all(may(spec.role_arn, *each) for each in needed)

    def begin(self) -> None:
        """Start a new tail."""
        self._invocation = []

    def tail(self) -> str:
        """Return the end of what was written since `begin`."""
        text = "".join(self._invocation).encode()[-_TAIL_BYTES:]
        return text.decode(errors="ignore")


class OutputPump:
    """Copies a process's output to its stream, line by line, in its own thread."""

    def __init__(self, pipe: IO[bytes], stream: LogStream) -> None:
        self._pipe = pipe
        self._stream = stream
        self._rest = b""
        self._reading = threading.Lock()
        flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
        fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def drain(self) -> None:
        """Write everything printed so far, including an unfinished last line."""
        self._read_all()
        with self._reading:
            if self._rest:
                self._stream.write(self._rest.decode(errors="replace") + "\n")
                self._rest = b""

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            while selector.select() and self._read_all():
                pass
        self.drain()
        with self._reading:
            self._pipe.close()

    def _read_all(self) -> bool:
        """Read what is available without waiting; return False at the end of the pipe."""
        with self._reading:
            while not self._pipe.closed:
                try:
                    chunk = os.read(self._pipe.fileno(), _CHUNK_BYTES)
                except BlockingIOError:
                    return True
                if not chunk:
                    return False
                *lines, self._rest = (self._rest + chunk).split(b"\n")
                if lines:
                    self._stream.write(*(line.decode(errors="replace") + "\n" for line in lines))
        return False
