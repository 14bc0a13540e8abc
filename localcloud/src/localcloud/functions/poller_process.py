"""The process that polls for a mapping: restarted when it dies, stopped in bounded time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from localcloud.children import Child

_STOP_SECONDS = 7.0
_AGAIN_SECONDS = 1.0


class PollerProcess:
    """Runs `localcloud.poller.worker`, which ends when its standard input does.

    The constructor starts it; each change that it reports goes to `on_report`.
    """

    def __init__(
        self,
        job: Mapping[str, Any],
        variables: Mapping[str, str],
        log: Path,
        on_report: Callable[[PollerProcess, dict[str, str]], None],
    ) -> None:
        self._job = json.dumps(job)
        self._variables = dict(variables)
        self._log = log
        self._on_report = on_report
        self._stopping = threading.Event()
        self._starting = threading.Lock()
        self._child = self._start()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.pid

    def stop(self) -> None:
        """Wait briefly for the running call, then stop the process and wait for its end."""
        with self._starting:  # otherwise a process that is just starting would miss the order
            self._stopping.set()
            child = self._child
        child.release()
        if child.wait(_STOP_SECONDS) is None:
            child.kill()
        self._thread.join()

    def _start(self) -> Child:
        self._started = time.monotonic()
        self.start_seconds = 0.0  # until it polls or knows the problem
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a") as log:
            child = Child(
                [sys.executable, "-m", "localcloud.poller.worker"],
                stdout=subprocess.PIPE,
                stderr=log,
                variables=self._variables,
            )
        child.write_line(self._job)
        return child

    def _follow(self) -> None:
        while True:
            child = self._child
            with child.stdout as lines:
                for line in lines:
                    self.start_seconds = self.start_seconds or time.monotonic() - self._started
                    self._on_report(self, json.loads(line))
            code = child.wait(None)
            if self._stopping.is_set():
                return
            said = f"PROBLEM: the poller ended with exit code {code}; its log is {self._log}"
            self._on_report(self, {"result": said, "state": "Enabled"})
            self._stopping.wait(_AGAIN_SECONDS)
            with self._starting:
                if self._stopping.is_set():
                    return
                self._child = self._start()
