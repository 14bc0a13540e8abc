"""One Kafka process: start, readiness and end; it never outlives its parent."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

from localcloud.children import Child, show_end
from localcloud.errors import BrokerStartError

_READY = "Kafka Server started"
_POLL_SECONDS = 0.02
_TELLING = ("ERROR", "FATAL", "Exception", "Caused by", "Error occurred", "Could not")
_LINES_SHOWN = 8


class KafkaProcess:
    """A JVM of Kafka, which halts at the end of its standard input (`Broker.java`).

    The constructor starts it; its output is appended to the log file.
    """

    def __init__(self, name: str, command: list[str], log: Path) -> None:
        self._name = name
        self._log = log
        with log.open("ab") as out:
            self._log_start = out.tell()
            self._child = Child(command, stdout=out, stderr=subprocess.STDOUT)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.pid

    @property
    def running(self) -> bool:
        """Return whether the process runs."""
        return self._child.exit_code is None

    def wait_ready(self, deadline: float) -> None:
        """Wait until Kafka reports that it has started, until a deadline on the monotonic clock.

        Raises:
            BrokerStartError: it ended or was too slow; the message has the relevant log lines.
        """
        while _READY not in (printed := self._printed()):
            if not self.running:
                self._fail(f"ended with exit code {self._child.exit_code}", printed)
            if time.monotonic() > deadline:
                self._fail("was not ready in time", printed)
            time.sleep(_POLL_SECONDS)

    def ask_to_end(self) -> None:
        """Send SIGTERM: Kafka moves its partition leaderships and closes its logs."""
        self._child.send_signal(signal.SIGTERM)
        self.resume()  # a stopped process does not handle SIGTERM

    def pause(self) -> None:
        """Send SIGSTOP."""
        self._child.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Send SIGCONT."""
        self._child.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Send SIGKILL and wait until the process is gone."""
        self._child.kill()
        self.wait_end(None)

    def wait_end(self, timeout_seconds: float | None) -> None:
        """Wait for the end; kill a process that takes longer."""
        if self._child.wait(timeout_seconds) is None:
            self.kill()

    def _printed(self) -> str:
        with self._log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def _fail(self, what: str, printed: str) -> None:
        lines = [line for line in printed.splitlines() if line.strip()]
        said = show_end(lines, _TELLING, _LINES_SHOWN)
        raise BrokerStartError(f"{self._name} {what}; its log {self._log} says:{said}")
