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
    # In processes of their own: this one may have so much free already.
    assert 56 <= _measure_child(holding=64 * 2**20) - _measure_child(holding=0) <= 72


def _measure_child(holding: int) -> int:
    code = f"kept = b'x' * {holding}; print(flush=True); input()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        found = resident_mb(process.pid)
        process.stdin.write(b"\n")
    return found


def test_a_process_that_is_gone_has_no_memory() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()

    assert resident_mb(process.pid) == 0
