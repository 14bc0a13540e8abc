"""Check that a machine has the programs of the whole suite that `make install` does not name."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from localcloud.errors import MissingToolError
from localcloud.services.rds.programs import find_programs
from tools.machine import measure_memory

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "npm")
_GIB_OF_A_ROOM = 4  # of one with Spark and brokers
_LIMIT = Path("/sys/fs/cgroup/memory.max")


def find_missing() -> Iterator[str]:
    """Yield what is missing, and how to get it."""
    if shutil.which("git") is None:
        yield "git: apt install git"
    try:
        find_programs()
    except MissingToolError as error:
        yield f"PostgreSQL: {error}"
    if not any(map(shutil.which, _CHROMIUM)):
        yield "Chromium, or npm, which brings one: apt install chromium"
    try:
        space = ("unshare", "--user", "--map-root-user", "--mount", "true")
        subprocess.run(space, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip()
        yield f"user namespaces ({said}): sysctl kernel.apparmor_restrict_unprivileged_userns=0"


def count_rooms() -> int:
    """Return how many rooms may compute at once: one for each core, and 4 GiB for each."""
    memory = measure_memory()
    limit = _LIMIT.read_text().strip() if _LIMIT.exists() else "max"
    if limit.isdecimal():
        memory = min(memory, int(limit))
    return max(1, min(len(os.sched_getaffinity(0)), memory // (_GIB_OF_A_ROOM * 2**30)))
