"""A command that waits ends with the program that reads its output, or gives its stdin."""

from __future__ import annotations

import io
import subprocess
import sys
import threading

import pytest

from penstock.cli.terminal import end_with_reader

_PROGRAM = """
import time
from penstock.cli.terminal import end_with_reader
end_with_reader({seconds})
try:
    print("begun", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    {then}
"""


@pytest.mark.parametrize(
    ("seconds", "then", "code"), [(30, "raise SystemExit(3)", 3), (0.1, "time.sleep(60)", 130)]
)
def test_a_command_ends_when_its_reader_has_ended(seconds: float, then: str, code: int) -> None:
    """It is interrupted, and has some time; it ends too if nothing comes of the interrupt."""
    words = [sys.executable, "-c", _PROGRAM.format(seconds=seconds, then=then)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"begun\n"
        assert process.poll() is None  # nothing has ended it while its output is read

        process.stdout.close()

        assert process.wait(30) == code


def test_a_command_ends_with_its_stdin_behind_a_program_that_does_not_watch_its_output() -> None:
    """So is ssh; here `cat` stands for it on both sides."""
    program = _PROGRAM.format(seconds=30, then="raise SystemExit(3)")
    program = program.replace("end_with_reader", "end_with_stdin")
    words = ["bash", "-o", "pipefail", "-c", 'cat | "$0" -c "$1" | cat', sys.executable, program]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.stdin.write(b"dropped\n")
        process.stdin.flush()
        process.stdout.close()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)  # nobody tells it that its reader has ended

        process.stdin.close()

        assert process.wait(30) == 3


def test_an_output_in_memory_has_no_reader_that_could_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    threads = threading.active_count()

    end_with_reader()

    assert threading.active_count() == threads
