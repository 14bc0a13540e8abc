"""Programs in a place of a VPC, as `localcloud run --as` runs them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from demo.accounts import MACHINE, ROOT, Local
from demo.screen import StepFailedError


@dataclass(frozen=True, slots=True)
class Program:
    """A program: its place, its command, its own environment variables, and its log.

    hosts: whether it finds names in /etc/hosts only, as programs in Go do
    """

    place: str
    command: Sequence[str]
    log: Path
    environ: Mapping[str, str]
    hosts: bool = False


def require_program(*names: str, how: str) -> str:
    """Return the path of a program that no package of Python brings, under one of its names.

    Raises:
        StepFailedError: it is not installed; `how` says how it is.
    """
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        why = f"there is no {' or '.join(names)} on PATH; install {how}"
        raise StepFailedError(MACHINE, why)
    return found


@contextmanager
def running(local: Local, program: Program) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program, which adds to its log, and end it at last."""
    words = [sys.executable, "-m", "localcloud", "--folder", str(local.folder), "run"]
    words += ["--as", program.place, *(["--hosts"] if program.hosts else [])]
    with program.log.open("ab") as output:
        process = subprocess.Popen(
            [*words, "--", *program.command],
            cwd=ROOT,
            env={**os.environ, **program.environ},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
