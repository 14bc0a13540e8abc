"""`penstock produce` ends by Ctrl+C or when its output is closed, and draws a progress bar."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any
from unittest.mock import patch

import pytest

from penstock.cli import main
from penstock.registry.memory import MemoryRegistry
from tests.fixtures.producing import (
    ENVIRON,
    SCHEMA,
    Run,
    piped_stdin,
    registry,
    run,
    topic,
)
from tests.stubs.terminal import Terminal
from tests.stubs.topic import FakeTopic

__all__ = ["registry", "run", "topic"]


def test_ctrl_c_ends_the_command_after_the_current_batch(
    run: Run, topic: FakeTopic, registry: MemoryRegistry
) -> None:
    registry.register("sensor", SCHEMA)
    handler = signal.getsignal(signal.SIGINT)
    send_all = topic.send_all

    def interrupt(*arguments: Any, **named: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return send_all(*arguments, **named)

    topic.is_there = True
    with patch.object(topic, "send_all", interrupt):
        code, lines = run("--records", "5000", "--quiet")

    assert code == 130
    assert lines[-1].startswith("sent 1,000, refused 0")
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize(
    ("words", "ended"), [((), (130, "sent 0, ")), (("--dry-run",), (0, "0 with a known version"))]
)
def test_ctrl_c_ends_the_wait_for_stdin(
    run: Run, words: tuple[str, ...], ended: tuple[int, str]
) -> None:
    def interrupt(*_: object) -> tuple[list[Any], list[Any], list[Any]]:
        signal.raise_signal(signal.SIGINT)
        return [], [], []

    with piped_stdin() as stdin, patch("select.select", interrupt):
        code, lines = run("-", *words)
        os.close(stdin)

    assert (code, len(lines)) == (ended[0], 1)
    assert lines[0].startswith(ended[1])


def test_a_second_ctrl_c_ends_the_command_at_once(run: Run, registry: MemoryRegistry) -> None:
    registry.register("sensor", SCHEMA)

    def interrupt(_: str) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with patch("penstock.cli._produce.print_line", interrupt):
        assert run()[0] == 130


def test_a_closed_output_prints_no_traceback(
    topic: FakeTopic, registry: MemoryRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    registry.register("sensor", SCHEMA)
    read_end, write_end = os.pipe()
    os.close(read_end)

    with open(write_end, "w") as stdout, patch.object(sys, "stdout", stdout):  # noqa: PTH123
        code = main(["produce"], ENVIRON)

    assert code == 141
    assert capfd.readouterr() == ("", "")


def test_a_terminal_has_a_progress_bar_while_no_lines_are_printed(
    run: Run, registry: MemoryRegistry
) -> None:
    registry.register("sensor", SCHEMA)

    with patch.object(sys, "stderr", Terminal()) as stderr:
        run("--records", "10", "--quiet")
        quiet_output = stderr.getvalue()
    with patch.object(sys, "stderr", Terminal()) as stderr, patch.object(sys, "stdout", stderr):
        main(["produce"], ENVIRON)
        mixed_output = stderr.getvalue()

    assert "\r\x1b[K[####################] 100 % of 10 records, " in quiet_output
    assert quiet_output.endswith("\r\x1b[K")
    assert "\x1b" not in mixed_output
