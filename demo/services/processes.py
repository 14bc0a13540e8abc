"""The processes of the services, each on a host in the consumer's VPC."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.accounts import MACHINE, ROOT, Local
from demo.places import Program, running
from demo.screen import StepFailedError
from demo.services.messages import Messages, text
from localcloud.testing import wait_until

# The topic that a service writes, and the one that it reads.
TOPICS = {"service-a": ("foo-topic", "bar-topic"), "service-b": ("bar-topic", "foo-topic")}
# A group has members of one language: others cannot read how kafka-go subscribes.
_GO = "service-b"
REPLICAS = 3
_SECONDS = "0.05"
_PATIENCE_SECONDS = 300
_FOLDER = ROOT / "examples" / "services"
_LAST_LINES = 12
_REFUSED = ": grant this to its program in the producer's root"


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes, by the folder of their logs and the output `clients` of the root."""

    local: Local
    logs: Path
    clients: Mapping[str, Mapping[str, Any]]

    def build(self) -> None:
        """Build the service in Go, and drop older logs.

        Raises:
            StepFailedError: Go refuses the code.
        """
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir()
        words = ["go", "build", "-o", str(self._binary), "."]
        done = subprocess.run(
            words, cwd=_FOLDER / "go", capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise StepFailedError(MACHINE, "Go refuses the service", done.stderr.splitlines())

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run three processes of each service; all must run until the end.

        Raises:
            StepFailedError: one of them has ended too early.
        """
        six = [
            self._make_program(name, f"{name}-{number}", in_go=name == _GO)
            for name in TOPICS
            for number in range(1, REPLICAS + 1)
        ]
        with ExitStack() as stack:
            started = [stack.enter_context(running(self.local, each)) for each in six]
            yield
            for program, process in zip(six, started, strict=True):
                if process.poll() is not None:
                    why = f"it ended with {process.returncode}"
                    raise StepFailedError(program.log.stem, why, _read_last(program.log))

    def read_rest(self) -> None:
        """Let one more process of each service read what is left, and write nothing."""
        with ExitStack() as stack:
            for name in TOPICS:
                host = f"{name}-reader"
                reader = self._make_program(name, host, in_go=name == _GO, MSG_FREQ="0")
                stack.enter_context(running(self.local, reader))
            wait_until("no message is lost", lambda: not self.count().find_lost(), 120)

    def refuse(self, name: str, *, in_go: bool, **changes: str) -> str:
        """Run a service that may not do what it is told, and return its last sentence.

        Raises:
            StepFailedError: it did not end with this error.
        """
        program = self._make_program(name, f"{name}-0", in_go=in_go, **changes)
        with suppress(subprocess.TimeoutExpired), running(self.local, program) as process:
            process.wait(_PATIENCE_SECONDS)
        (sentence,) = _read_last(program.log, 1)
        if process.returncode != 1 or not sentence.endswith(_REFUSED):
            why = f"it ended with {process.returncode}"
            raise StepFailedError(program.log.stem, why, [sentence])
        return sentence

    def count(self) -> Messages:
        """Count the messages in all logs."""
        logs = {log.stem: log.read_text().splitlines() for log in self.logs.glob("*.log")}
        return Messages.count(logs)

    def await_received(self, count: int) -> None:
        """Wait until that many messages were received."""
        wait_until(
            f"{count:,} messages were received",
            lambda: len(self.count().received) >= count,
            _PATIENCE_SECONDS,
        )

    def await_more(self) -> None:
        """Wait until of each host a message was received that it writes after now."""
        # The next one may be written already, and its line not yet.
        wanted = {text(n + 2, host) for host, n in self.count().written.items()}
        wait_until(
            "messages of each process are received",
            lambda: wanted <= self.count().received.keys(),
            _PATIENCE_SECONDS,
        )

    @property
    def _binary(self) -> Path:
        return self.logs / "service"

    def _make_program(self, name: str, host: str, *, in_go: bool, **changes: str) -> Program:
        told = self.clients[name]
        written, read = TOPICS[name]
        environ = {
            "GROUP": f"{told['group_prefix']}1",
            "HOSTNAME": host,
            "KAFKA_BOOTSTRAP_SERVERS": told["bootstrap_servers"],
            "KAFKA_SECRET_ARN": told["secret_arn"],
            "KAFKA_SECURITY": "scram",
            "LOG_LEVEL": "debug",
            "MSG_FREQ": _SECONDS,
            "TOPIC1": written,
            "TOPIC2": read,
        }
        python = [sys.executable, str(_FOLDER / "service.py")]
        return Program(
            told["host"],
            [str(self._binary)] if in_go else python,
            self.logs / f"{host}.log",
            environ | changes,
            hosts=in_go,
        )


def _read_last(log: Path, count: int = _LAST_LINES) -> list[str]:
    return log.read_text().splitlines()[-count:]
