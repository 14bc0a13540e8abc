"""Child processes: each ends with localcloud, also after kill -9, together with its own children.

The standard input of a child is a pipe from localcloud. The kernel closes it when localcloud ends,
and the child watches for that: a Python process by `LIFELINE`, any other command under
`supervised`, or the program itself. (PR_SET_PDEATHSIG would fire at the end of the *thread* that
forked.) Each child leads a process group, which is killed as a whole.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

# Every process has these from the server: `down` finds what is left by the first of them.
SERVER_VARIABLE = "LOCALCLOUD_SERVER"
_INHERITED = (SERVER_VARIABLE, "TMPDIR")
# The first lines of a Python program whose standard input is not used for anything else.
LIFELINE = """
import _thread, os

def end_with_localcloud(pipe):
    os.read(pipe, 1)
    os.killpg(0, 9)

_thread.start_new_thread(end_with_localcloud, (os.dup(0),))
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
"""
# The group gets SIGTERM; the exit code is the command's.
_SUPERVISE = f"""{LIFELINE}
import signal, subprocess, sys

signal.signal(signal.SIGTERM, lambda *_: None)
code = subprocess.call(sys.argv[1:])
sys.exit(code if code >= 0 else 128 - code)
"""


def show_end(lines: Sequence[str], telling: Sequence[str], count: int) -> str:
    """Return the last telling lines of a log, or else its last lines, each indented on a line."""
    shown = [line for line in lines if any(word in line for word in telling)] or lines
    return "".join(f"\n  {line}" for line in shown[-count:])


def java_scratch(folder: Path) -> tuple[str, str]:
    """Return the flags that keep a JVM's files in a folder: it ignores TMPDIR."""
    return ("-XX:-UsePerfData", f"-Djava.io.tmpdir={folder}")


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
            env={**_inherited(), **(os.environ if variables is None else variables)},
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
        """The exit code, negative for a signal, None while it runs."""
        return self._process.poll()

    @property
    def stdout(self) -> IO[bytes]:
        """The standard output, if a pipe was requested."""
        return _present(self._process.stdout)

    @property
    def stderr(self) -> IO[bytes]:
        """The standard error, if a pipe was requested."""
        return _present(self._process.stderr)

    def write_line(self, line: str) -> None:
        """Write a line to the standard input."""
        pipe = _present(self._process.stdin)
        pipe.write(f"{line}\n".encode())
        pipe.flush()

    def release(self) -> None:
        """Close the standard input, as the end of localcloud does."""
        _present(self._process.stdin).close()

    def wait(self, timeout_seconds: float | None) -> int | None:
        """Wait for the end and kill the rest of the group; return None after the timeout."""
        if timeout_seconds is not None and not self._ends_within(timeout_seconds):
            return None
        code = self._process.wait()
        self.kill()
        self.release()
        return code

    def _ends_within(self, seconds: float) -> bool:
        """Return whether the process ends in time; `Popen.wait` would ask 20 times a second."""
        if self.exit_code is not None:
            return True
        try:
            end = os.pidfd_open(self.pid)
        except ProcessLookupError:  # another thread has just read its exit code
            return True
        try:
            waiting = select.poll()
            waiting.register(end, select.POLLIN)
            return bool(waiting.poll(seconds * 1_000))
        finally:
            os.close(end)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group if it still exists."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def kill(self) -> None:
        """Kill the whole group."""
        self.send_signal(signal.SIGKILL)


def _inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def _present(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - a pipe was requested
    return pipe


def describe_process(pid: int, start_seconds: float) -> dict[str, Any]:
    """Return a process for `status`: 0 seconds while it starts, 0 megabytes after its end."""
    return {
        "pid": pid,
        "start_seconds": round(start_seconds, 2),
        "memory_mb": resident_mb(pid),
    }


def resident_mb(pid: int) -> int:
    """Return the resident memory of a process in whole megabytes, 0 after its end."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20
