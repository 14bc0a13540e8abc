"""Child processes: each ends when localcloud does, by kill -9 too, together with what it started.

The standard input of a child is a pipe from localcloud. The kernel ends it when localcloud is gone,
and the child watches for that: a Python by `LIFELINE`, any other command under `supervised`, or a
program that does so itself. (PR_SET_PDEATHSIG would fire when the *thread* that forked ends.) Each
child leads a process group, which is killed as a whole.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

# The beginning of a Python program whose standard input nobody else reads or writes.
LIFELINE = """
import _thread, os

def end_with_localcloud(pipe):
    os.read(pipe, 1)
    os.killpg(0, 9)

_thread.start_new_thread(end_with_localcloud, (os.dup(0),))
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
"""
# The group is asked to end, and the command answers.
_SUPERVISE = f"""{LIFELINE}
import signal, subprocess, sys

signal.signal(signal.SIGTERM, lambda *_: None)
code = subprocess.call(sys.argv[1:])
sys.exit(code if code >= 0 else 128 - code)
"""


def supervised(command: Sequence[str]) -> list[str]:
    """Return the command under a small process that ends it with localcloud."""
    return [sys.executable, "-I", "-c", _SUPERVISE, *command]


class Child:
    """A process of localcloud and everything that it starts."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        stdout: int | IO[Any],
        stderr: int | IO[Any],
        folder: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=None if variables is None else dict(variables),
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    @property
    def stdout(self) -> IO[bytes]:
        """What it prints, where that was asked for as a pipe."""
        return _present(self._process.stdout)

    @property
    def stderr(self) -> IO[bytes]:
        """Its errors, where they were asked for as a pipe."""
        return _present(self._process.stderr)

    def write_line(self, line: str) -> None:
        """Write a line to its standard input."""
        pipe = _present(self._process.stdin)
        pipe.write(f"{line}\n".encode())
        pipe.flush()

    def release(self) -> None:
        """End its standard input, as localcloud's own end would."""
        _present(self._process.stdin).close()

    def wait(self, timeout_seconds: float | None) -> int | None:
        """Wait for its end and kill what it left behind; None where the time is over before."""
        try:
            code = self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return None
        self.kill()
        self.release()
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group, if there still is one."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def kill(self) -> None:
        """End the whole group at once."""
        self.send_signal(signal.SIGKILL)


def _present(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - it was asked for
    return pipe


def describe_process(pid: int, start_seconds: float) -> dict[str, Any]:
    """Show a process in `status`: 0 seconds while it starts, 0 megabytes when it is gone."""
    return {
        "pid": pid,
        "start_seconds": round(start_seconds, 2),
        "memory_mb": resident_mb(pid),
    }


def resident_mb(pid: int) -> int:
    """Return the resident memory of a process in whole megabytes, 0 if it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20
