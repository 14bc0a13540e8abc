"""What `status` tells of a process, of one that is gone too."""

from __future__ import annotations

import os
import subprocess
import sys

from localcloud.processes import describe_process, resident_mb


def test_a_process_is_told_with_its_start_and_its_memory() -> None:
    told = describe_process(os.getpid(), 1.23456)

    assert (told["pid"], told["start_seconds"]) == (os.getpid(), 1.23)
    assert 5 < told["memory_mb"] < 5_000


def test_memory_is_counted_in_megabytes() -> None:
    before = resident_mb(os.getpid())
    kept = b"x" * (64 * 2**20)

    assert 56 <= resident_mb(os.getpid()) - before <= 72, len(kept)


def test_a_process_that_is_gone_has_no_memory() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()

    assert resident_mb(process.pid) == 0
