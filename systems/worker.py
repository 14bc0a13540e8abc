"""A child process that is asked by lines of JSON (`systems.answering` is its side)."""

from __future__ import annotations

import json
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from systems.place import ROOT

_ANSWER_SECONDS: Final = 300
_END_SECONDS: Final = 30


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
