"""A worker of Kafka Connect: its settings, its process, and its one connector by REST."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from localcloud.children import Child, show_end, supervised
from localcloud.errors import WorkerStartError
from localcloud.jars import JARS, find_jars

_JARS = JARS / "connect"
_MAIN = "org.apache.kafka.connect.cli.ConnectDistributed"
_JAVA = ("java", "-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_START_SECONDS = 120  # far more than it needs: a busy machine is not a failure
_END_SECONDS = 10
_ANSWER_SECONDS = 90  # Kafka Connect's own limit for a request
_POLL_SECONDS = 0.2
_LINES_SHOWN = 12
_TELLING = ("ERROR", "Exception", "Caused by")

_LOGGING = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c:%L)%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
logger.reflections.name = org.reflections
logger.reflections.level = error
logger.plugins.name = org.apache.kafka.connect.runtime.isolation
logger.plugins.level = error
"""
# Clients of Kafka that a worker has, each with its own prefix.
_CLIENTS = ("", "producer.", "consumer.", "admin.")


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """A worker of one connector.

    `client` are the properties of its Kafka clients: servers and login; `settings` those of its
    worker configuration. `plugins` holds a folder for each plugin. It has the `variables` of its
    role and network.
    """

    connector: str
    client: Mapping[str, str]
    settings: Mapping[str, str]
    plugins: Path
    address: str
    port: int
    variables: Mapping[str, str] = field(repr=False)

    @property
    def url(self) -> str:
        """The URL of its REST interface."""
        return f"http://{self.address}:{self.port}"

    def properties(self) -> dict[str, str]:
        """Return the properties of the worker."""
        clients = {
            f"{prefix}{name}": value for prefix in _CLIENTS for name, value in self.client.items()
        }
        # MSK Connect's names: assumption `connect-internal-topics`.
        own = f"__amazon_msk_connect_{{}}_{self.connector}"
        topics = {f"{what}.storage.topic": own.format(name) for what, name in _STORED.items()}
        return {
            **_DEFAULTS,
            **topics,
            **self.settings,
            **clients,
            "group.id": own.format("group"),
            "listeners": self.url,
            "plugin.path": str(self.plugins),
        }


_STORED = {"config": "configs", "offset": "offsets", "status": "status"}
_DEFAULTS = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    **{f"{what}.storage.replication.factor": "-1" for what in _STORED},
    "offset.storage.partitions": "1",
    "status.storage.partitions": "1",
    # The first join to the group need not wait for a second worker.
    "scheduled.rebalance.max.delay.ms": "0",
}


class ConnectWorker:
    """The process of a worker, which ends with localcloud."""

    def __init__(self, home: Path, spec: WorkerSpec) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._home, self._spec = home, spec
        self.log = home / "worker.log"
        self._child: Child | None = None

    @property
    def address(self) -> str:
        """Where it answers on this machine."""
        return self._spec.address

    @property
    def running(self) -> bool:
        """Return whether the process runs."""
        return self._child is not None and self._child.exit_code is None

    @property
    def pid(self) -> int | None:
        """The id of the process's group, None before its start."""
        return None if self._child is None else self._child.pid

    def start(self) -> None:
        """Start the worker and wait until it has joined its group.

        Raises:
            MissingToolError: its jars are missing.
            WorkerStartError: it ended, or was not ready in time.
        """
        find_jars(_JARS)
        begun = self.log.stat().st_size if self.log.exists() else 0
        deadline = time.monotonic() + _START_SECONDS
        with self.log.open("ab") as log:
            self._child = Child(
                supervised(self._command()),
                stdout=log,
                stderr=subprocess.STDOUT,
                variables=self._spec.variables,
            )
        while not self._answers():
            if not self.running or time.monotonic() > deadline:
                self.kill()
                raise WorkerStartError(f"the worker did not start:{self._telling_lines(begun)}")
            time.sleep(_POLL_SECONDS)

    def put_connector(self, name: str, settings: Mapping[str, str]) -> None:
        """Create the connector, or change its settings.

        Raises:
            WorkerStartError: Kafka Connect refuses the settings; the message is its own.
        """
        self._ask("PUT", f"/connectors/{name}/config", dict(settings))

    def describe_connector(self, name: str) -> dict[str, Any] | None:
        """Return the status of the connector and its tasks, None while it is not known."""
        try:
            status: dict[str, Any] = self._ask("GET", f"/connectors/{name}/status")
        except WorkerStartError:
            return None
        return status

    def await_tasks(self, name: str) -> None:
        """Wait until the connector and its tasks run.

        Raises:
            WorkerStartError: one failed, with its trace, or they do not run in time.
        """
        deadline = time.monotonic() + _START_SECONDS
        while True:
            status = self.describe_connector(name)
            parts = [status["connector"], *status["tasks"]] if status else []
            for part in parts:
                if part["state"] == "FAILED":
                    raise WorkerStartError(f"{name} failed: {part.get('trace', '')}")
            if len(parts) > 1 and all(part["state"] == "RUNNING" for part in parts):
                return
            if time.monotonic() > deadline or not self.running:
                raise WorkerStartError(f"{name} does not run: {parts or 'it is not known'}")
            time.sleep(_POLL_SECONDS)

    def act(self, name: str, action: str) -> None:
        """Pause, resume, stop or restart the connector."""
        method = "POST" if action == "restart" else "PUT"
        query = "?includeTasks=true" if action == "restart" else ""
        self._ask(method, f"/connectors/{name}/{action}{query}")

    def stop(self) -> None:
        """Ask the worker to end: its tasks commit their offsets."""
        if self._child is not None:
            self._child.send_signal(signal.SIGTERM)
            self._child.wait(_END_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the worker; the next start goes on at the last committed offsets."""
        if self._child is not None:
            self._child.kill()
            self._child.wait(None)
            self._child = None

    def _command(self) -> list[str]:
        properties = self._home / "worker.properties"
        properties.touch(mode=0o600)
        lines = [f"{name}={value}\n" for name, value in self._spec.properties().items()]
        properties.write_text("".join(lines))
        logging = self._home / "log4j2.properties"
        logging.write_text(_LOGGING)
        words = (f"-Dlog4j2.configurationFile={logging}", "-cp", f"{_JARS}/*")
        return [*_JAVA, *words, _MAIN, str(properties)]

    def _answers(self) -> bool:
        try:
            self._ask("GET", "/connectors")
        except WorkerStartError:
            return False
        return True

    def _ask(self, method: str, path: str, given: Any = None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - its address is ours
            f"{self._spec.url}{path}",
            method=method,
            data=None if given is None else json.dumps(given).encode(),
            headers={"Content-Type": "application/json"},
        )
        deadline = time.monotonic() + _ANSWER_SECONDS
        while True:
            try:
                with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310
                    said = answer.read()
                    return json.loads(said) if said else None
            except urllib.error.HTTPError as error:
                if error.code != HTTPStatus.CONFLICT or time.monotonic() > deadline:
                    raise WorkerStartError(_read_message(error)) from error
            except OSError as error:
                raise WorkerStartError(f"the worker does not answer: {error}") from error
            time.sleep(_POLL_SECONDS)  # a conflict: the worker has just joined its group

    def _telling_lines(self, begun: int) -> str:
        with self.log.open("rb") as log:
            log.seek(begun)
            lines = log.read().decode(errors="replace").splitlines()
        return show_end(lines, _TELLING, _LINES_SHOWN)


def _read_message(error: urllib.error.HTTPError) -> str:
    """Return the message of an error that Kafka Connect answered."""
    said = error.read().decode(errors="replace")
    try:
        return str(json.loads(said)["message"])
    except (ValueError, KeyError):
        return said
