"""Apicurio Registry as a process on a loopback address; everything it holds is in its memory."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time
from pathlib import Path

from localcloud.children import Child, java_scratch, supervised
from localcloud.errors import MissingToolError, RegistryStartError
from localcloud.jars import JARS

_APP = JARS / "registry"
_RUNNER = "apicurio-registry-app-*-runner.jar"
_LISTENS = re.compile(r"Listening on: (http://[0-9.]+:[0-9]+)")
_END_SECONDS = 30
_START_SECONDS = 120  # far more than it needs: a busy machine is not a failure
_POLL_SECONDS = 0.1
# Short-lived: the second compiler would cost more than it saves.
_JAVA = ("java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class ApicurioProcess:
    """A running registry, with its own API and Confluent's; it ends with localcloud.

    Port 0 is a free port.

    Raises:
        MissingToolError: its jar is missing.
        RegistryStartError: it ended, or was not ready in time.
    """

    def __init__(self, address: str, port: int, log: Path) -> None:
        runner = next(_APP.glob(_RUNNER), None)
        if runner is None:
            raise MissingToolError(f"found no {_RUNNER} in {_APP}; run `localcloud fetch`")
        begun = time.monotonic()
        # Without an address it would listen on every interface, and it lets every web page in.
        options = (
            f"-Dquarkus.http.host={address}",
            f"-Dquarkus.http.port={port}",
            "-Dquarkus.http.cors.origins=https://localhost.invalid",
        )
        command = supervised([*_JAVA, *java_scratch(log.parent), *options, "-jar", str(runner)])
        with log.open("wb") as output:
            self._child = Child(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            self.url = self._await_url(log, begun + _START_SECONDS)
        except BaseException:
            self._end_child()
            raise
        self._start_seconds = round(time.monotonic() - begun, 2)

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._child.pid

    @property
    def running(self) -> bool:
        """Return whether the process runs."""
        return self._child.exit_code is None

    def describe(self) -> dict[str, object]:
        """Return its URL and its process for `status`."""
        return {"url": self.url, "pid": self.pid, "start_seconds": self._start_seconds}

    def pause(self) -> None:
        """Send SIGSTOP."""
        self._child.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Send SIGCONT."""
        self._child.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill it and wait until nobody listens at its address."""
        self._end_child()
        # Java is a child of the child: it may still be ending.
        deadline = time.monotonic() + _END_SECONDS
        while self._listens() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    def _end_child(self) -> None:
        self._child.kill()
        self._child.wait(None)

    def _listens(self) -> bool:
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except TimeoutError:
            return True
        except OSError:
            return False
        return True

    def _await_url(self, log: Path, deadline: float) -> str:
        while True:
            printed = log.read_text(errors="replace")
            if found := _LISTENS.search(printed):
                return found[1]
            if (code := self._child.exit_code) is not None:
                what = f"ended with exit code {code}"
            elif time.monotonic() > deadline:
                what = f"was not ready in {_START_SECONDS} s"
            else:
                time.sleep(_POLL_SECONDS)
                continue
            raise RegistryStartError(f"Apicurio {what}; its log {log} says:\n{printed[-3000:]}")
