"""One system under the changes, and what it finds in its surroundings."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from proof.change import Row

PYTHON: Final = (sys.executable, "-m")
ROOT: Final = Path(__file__).resolve().parents[1]
# For JVMs of minutes: optimizing what runs once would be most of their work.
QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_HEAP: Final = "-Xmx2g"
_ANSWER_SECONDS: Final = 300
_END_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Place:
    """The surroundings: the broker, the registry, an AWS account, and a folder.

    Attributes:
        is_quick: whether JVMs save the work of optimizing; where they are timed they do not.
    """

    servers: str
    registry: str
    aws: str
    folder: Path
    is_quick: bool = True

    @property
    def java(self) -> tuple[str, ...]:
        """The beginning of the command line of a peer, whose heap is that of Kafka Connect."""
        return ("java", *(QUICK if self.is_quick else ()), _HEAP)

    def new_folder(self, name: str) -> Path:
        """Make a folder."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        return folder


class Tables(Protocol):
    """A reader of a system's tables."""

    def read(self, change: str) -> Sequence[Row]:
        """Return the rows of a change's table."""


class Letters(Protocol):
    """A reader of a system's dead letters."""

    def read(self, change: str) -> Sequence[bytes]:
        """Return the bytes of a change's dead letters."""


class System(Protocol):
    """A system that reads a topic and writes a table for each change, in streams of their own."""

    @property
    def tables(self) -> Tables:
        """The reader of its tables."""

    @property
    def letters(self) -> Letters:
        """The reader of its dead letters."""

    def start(self, changes: Sequence[str]) -> None:
        """Start a stream for each change."""

    def why_ended(self, change: str) -> str:
        """Return why the stream of a change ended by itself, or nothing if it runs."""

    def restart(self, change: str) -> None:
        """Start a stream again that ended."""

    def describe_trouble(self, change: str) -> str:
        """Return the last error of a stream that runs or tries to, for the page alone."""

    def close(self) -> None:
        """End all streams and processes."""


class Worker:
    """A child process that answers one line of JSON for each that it is asked."""

    def __init__(
        self, words: Sequence[str], log: Path, environ: Mapping[str, str] | None = None
    ) -> None:
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                cwd=ROOT,
                env=environ,
            )

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def ask(self, verb: str, **words: Any) -> str:
        """Ask, and return the answer; a process that has ended answers that."""
        assert self._process.stdin and self._process.stdout
        try:
            print(json.dumps({"verb": verb, **words}), file=self._process.stdin, flush=True)
            there, _, _ = select.select([self._process.stdout], [], [], _ANSWER_SECONDS)
            line = self._process.stdout.readline() if there else json.dumps("it does not answer")
        except BrokenPipeError:
            line = ""
        if not line:
            return f"its process ended with {self._process.wait(_END_SECONDS)}"
        return str(json.loads(line))

    def kill(self) -> bool:
        """Kill the process with -9; return whether that ended it."""
        self._process.kill()
        return self._process.wait() == -signal.SIGKILL

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for each in (self._process.stdin, self._process.stdout):
            if each:
                each.close()
