"""A command that SIGTERM ends closes what it opened, as by ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from penstock.cli import main
from penstock.operations import ReadRecord

# `penstock cdc explain` waits where it reads its file.
_PROGRAM = """
import signal, sys, time
from unittest.mock import patch
from penstock.cli import main

def wait(*_):
    try:
        print("begun", flush=True)
        time.sleep(60)
    finally:
        print("closed", flush=True)

signal.signal(signal.SIGINT, signal.{interrupt})
with patch("penstock.extensions.cdc.command.read_text", wait):
    sys.exit(main(["cdc", "explain", "status.json"], {{}}))
"""


@pytest.mark.parametrize(
    ("number", "interrupt", "code"),
    [
        (signal.SIGINT, "default_int_handler", 130),
        (signal.SIGTERM, "default_int_handler", 143),
        (signal.SIGTERM, "SIG_IGN", 143),  # as in the background of a shell
    ],
)
def test_a_signal_ends_a_command_that_closes_what_it_opened(
    number: signal.Signals, interrupt: str, code: int
) -> None:
    words = [sys.executable, "-c", _PROGRAM.format(interrupt=interrupt)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"begun\n"

        process.send_signal(number)

        assert process.wait(30) == code
        assert (process.stdout.read(), process.stderr.read()) == (b"closed\n", b"")


@pytest.mark.parametrize(
    "words", [["lag", "group", "--listen=127.0.0.1:0", "--security=plaintext"], ["console"]]
)
def test_sigterm_ends_a_command_that_serves(words: list[str]) -> None:
    environ = {**os.environ, "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"}
    program = [sys.executable, "-u", "-m", "penstock.cli", *words]
    with subprocess.Popen(program, env=environ, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b"http" in process.stdout.readline()

        process.terminate()

        assert process.wait(30) == 143


@pytest.mark.parametrize(
    ("words", "is_cut"), [([], True), (["--count=9"], True), (["--follow"], False)]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_dump_that_is_cut_does_not_look_whole(
    number: signal.Signals, words: list[str], is_cut: bool
) -> None:
    environ = {"KAFKA_BOOTSTRAP_SERVERS": "b:1", "KAFKA_SECURITY": "plaintext"}

    def read(*_: object, **__: object) -> Iterator[ReadRecord]:
        signal.raise_signal(number)
        yield from ()

    with patch("penstock.cli._read.read_records", read):
        found = main(["read", "sensor", *words], environ)

    assert found == (128 + number if is_cut else 0)


def test_a_command_leaves_the_signals_of_its_program_as_they_were() -> None:
    handler = signal.getsignal(signal.SIGTERM)
    during = []

    def look(*_: object) -> str:
        during.append(signal.getsignal(signal.SIGTERM))
        raise OSError("x")

    with patch("penstock.extensions.cdc.command.read_text", look):
        assert main(["cdc", "explain", "status.json"], {}) == 1
        thread = threading.Thread(target=main, args=(["cdc", "explain", "status.json"], {}))
        thread.start()
        thread.join()

    assert [each is handler for each in during] == [False, True]
    assert signal.getsignal(signal.SIGTERM) is handler
