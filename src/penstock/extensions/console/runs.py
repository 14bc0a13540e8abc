"""Runs of commands: each in a process of its own, with the settings of one profile.

A command takes its settings and AWS credentials from the environment, so two accounts need two
processes. Brokers may be reached only from a host in the VPC: then a command runs there.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

PAGE_SECONDS: Final = 60.0
# A record of 1 MB has six times as many characters in JSON, if all of them are escaped. A
# compressed one may have more.
_MOST_LINE: Final = 16 * 2**20
_SOME: Final = 64 * 1024
_MOST_ERROR: Final = 64 * 1024
_AT_ONCE: Final = 12
_END_SECONDS: Final = 5.0
# A call that a command without a limit has under way may take 65 s, and is not begun again.
_CALL_SECONDS: Final = 70.0


@dataclass(slots=True)
class Run:
    """A command that runs or has run.

    `code` is its exit code, and None as long as it runs, or if it was stopped. `error` is what it
    printed to stderr. `size` is how many bytes of objects were read.
    """

    command: str
    code: int | None = None
    error: str = ""
    size: int = 0
    _process: Process | None = field(default=None, repr=False)

    async def objects(self) -> AsyncGenerator[Any]:
        """Yield each object when the command prints it, but those that are too long for a page."""
        if self._process is not None and self._process.stdout is not None:
            async for line in self._read_lines(self._process.stdout):
                yield json.loads(line)

    async def _read_lines(self, stdout: asyncio.StreamReader) -> AsyncGenerator[bytes]:
        is_cut = False
        while True:
            try:
                line = await stdout.readuntil()
            except asyncio.LimitOverrunError as error:
                await stdout.readexactly(error.consumed)
                is_cut = True
                continue
            except asyncio.IncompleteReadError as error:
                line = error.partial
            if not line:
                return
            if is_cut:  # this is its end
                most = _MOST_LINE // 2**20
                self.error = f"found an object of more than {most} MiB; the command can print it\n"
                is_cut = False
                continue
            self.size += len(line)
            yield line

    async def text(self) -> str:
        """Return all that the command prints, cut after the most that a line may have."""
        if self._process is None or self._process.stdout is None:
            return ""
        found = bytearray()
        while len(found) < _MOST_LINE and (some := await self._process.stdout.read(_SOME)):
            found += some
        return found.decode("utf-8", "replace")


class Commands:
    """Runs commands, a few at once.

    Args:
        environ: the environment of this process, without the settings of a profile. The folder of
            its Python comes first on the PATH of commands, for a host that is this machine.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{environ.get('PATH', '')}"
        self._environ = {**environ, "PATH": path}
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._ending: set[asyncio.Task[int | None]] = set()

    async def finish(self) -> None:
        """Wait for the commands that are being stopped."""
        if self._ending:
            await asyncio.wait(self._ending)

    @asynccontextmanager
    async def run(
        self,
        profile: str,
        words: Sequence[str],
        given: str | None = "",
        host: str = "",
        seconds: float | None = None,
    ) -> AsyncGenerator[Run]:
        """Run a command until it or the block ends.

        Args:
            profile: the profile of its settings; empty for the default one.
            words: its name and arguments; it prints JSON unless they name another output.
            given: the text of its stdin; None for one that ends with the block, or this process.
            host: a command that runs it on a host, as in `Profile`; empty for this machine.
            seconds: how long it may take; None for as long as the block does.
        """
        run = Run(describe_command(profile, words))
        async with self._slots:
            with TemporaryFile() as stdin, TemporaryFile() as stderr:
                stdin.write((given or "").encode())
                stdin.seek(0)
                run._process = await self._start(
                    profile, _with_output(words), host, PIPE if given is None else stdin, stderr
                )
                try:
                    async with asyncio.timeout(seconds):
                        yield run
                except TimeoutError:
                    run.error = f"the command was stopped after {seconds:g} s\n"
                finally:
                    patience = _CALL_SECONDS if seconds is None else _END_SECONDS
                    ending = asyncio.create_task(_end_process(run._process, patience))
                    self._ending.add(ending)
                    ending.add_done_callback(self._ending.discard)
                    run.code = await asyncio.shield(ending)  # also if it is cancelled once more
                    stderr.seek(0)
                    run.error += stderr.read(_MOST_ERROR).decode("utf-8", "replace")

    async def _start(
        self,
        profile: str,
        words: Sequence[str],
        host: str,
        stdin: IO[bytes] | int,
        stderr: IO[bytes],
    ) -> Process:
        if host:
            program = [*shlex.split(host), describe_command(profile, words)]
        else:
            program = [
                sys.executable,
                "-m",
                "penstock.cli",
                *_with_profile(profile, words),
            ]
        # A group of its own: what a shell of the host command has started ends with it.
        return await asyncio.create_subprocess_exec(
            *program,
            stdin=stdin,
            stdout=PIPE,
            stderr=stderr,
            env=self._environ,
            limit=_MOST_LINE,
            process_group=0,
        )


def describe_command(profile: str, words: Sequence[str]) -> str:
    """Return a command for a shell."""
    return shlex.join(["penstock", *_with_profile(profile, words)])


def _with_profile(profile: str, words: Sequence[str]) -> list[str]:
    return [*(["--profile", profile] if profile else []), *words]


def _with_output(words: Sequence[str]) -> Sequence[str]:
    """Add the choice of JSON, before the arguments that cannot be flags."""
    place = words.index("--") if "--" in words else len(words)
    if any(each.startswith("--output=") for each in words[:place]):
        return words
    return [*words[:place], "--output=json", *words[place:]]


async def _end_process(process: Process, seconds: float) -> int | None:
    """Return the exit code of a process, None if it has not ended by itself.

    One whose output has not been read to the end may have more to print, and is stopped: first as
    by ctrl-C, so that it ends what it has begun elsewhere, such as a query, in so many seconds.
    """
    if process.stdout is not None and process.stdout.at_eof():
        with suppress(TimeoutError):
            return await asyncio.wait_for(process.wait(), _END_SECONDS)
    for stop, patience in (
        (signal.SIGINT, seconds),
        (signal.SIGTERM, _END_SECONDS),
        (signal.SIGKILL, _END_SECONDS),
    ):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, stop)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), patience)
            break
    return None
