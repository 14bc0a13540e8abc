"""Child processes: their groups, how they end, and how `status` shows them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from subprocess import DEVNULL, PIPE

import pytest

from localcloud.children import LIFELINE, Child, describe_process, resident_mb, supervised
from localcloud.testing import wait_until

_SLEEPER = "sleep 60 & echo $!; wait"  # a shell, and a process that it starts


def _start(command):
    child = Child(command, stdout=PIPE, stderr=DEVNULL)
    with child.stdout as printed:
        return child, int(printed.readline())


def _await_end(pid):
    wait_until("its end", lambda: not resident_mb(pid), 10)


def test_a_child_is_killed_with_what_it_started():
    child, started = _start(["sh", "-c", _SLEEPER])
    assert (child.wait(0), child.exit_code) == (None, None)

    child.kill()

    assert child.wait(None) == child.exit_code == -signal.SIGKILL
    _await_end(started)
    child.kill()  # it is no error


def test_processes_of_a_child_are_killed_when_it_ends():
    child, left = _start(["sh", "-c", "sleep 60 & echo $!"])

    assert child.wait(None) == 0

    _await_end(left)


@pytest.mark.parametrize(
    "command",
    [
        supervised(["sh", "-c", _SLEEPER]),
        [
            sys.executable,
            "-c",
            f"{LIFELINE}\nimport subprocess\nsubprocess.call(['sh', '-c', {_SLEEPER!r}])",
        ],
    ],
    ids=["supervised", "lifeline"],
)
def test_a_child_ends_with_its_standard_input(command):
    child, started = _start(command)

    child.release()

    assert child.wait(None) == -signal.SIGKILL
    _await_end(started)


def test_a_supervised_command_hears_a_signal_and_its_exit_code_is_kept():
    child, _ = _start(supervised(["sh", "-c", "trap 'exit 3' TERM; echo 0; while :; do :; done"]))

    child.send_signal(signal.SIGTERM)

    assert child.wait(None) == 3


def test_a_child_gets_lines_and_nothing_but_its_own_variables(tmp_path):
    child = Child(
        [sys.executable, "-c", "import os; print(os.getcwd(), os.environ.get('A'), input())"],
        stdout=PIPE,
        stderr=DEVNULL,
        folder=tmp_path,
        variables={"A": "b"},
    )
    child.write_line("told")

    with child.stdout as printed:
        assert printed.read().decode() == f"{tmp_path} b told\n"
    assert child.wait(None) == 0


def test_a_process_is_described_with_its_start_and_memory() -> None:
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
