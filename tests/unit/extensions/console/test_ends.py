"""A console that is ended waits for a command that changes something, and logs how it ended."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from localcloud.testing import wait_until

_CONSOLE = """
import sys
from penstock.cli import main
from penstock.extensions.console import app
app._CHANGE_SECONDS = {seconds}
sys.exit(main(["console", "--allow-changes", "--output=json", "--audit={audit}"]))
"""
# In place of `ssh HOST`: it takes a while, or says how it is ended, which takes a while too.
_COMMAND = """
trap 'sleep 2; echo ended >{said}; exit 130' INT
echo began >{said}
sleep {seconds}
echo done >{said}
"""


@contextmanager
def _running(folder: Path, step: str, wait: float, takes: float) -> Iterator[subprocess.Popen[str]]:
    """A console, one of whose pages runs a command that changes something, or its rehearsal."""
    script = _COMMAND.format(said=folder / "said", seconds=takes)
    environ = {
        **os.environ,
        "PENSTOCK_HOST_COMMAND": f"sh -c {shlex.quote(script)} --",
        "PENSTOCK_TOPIC": "sensor",
    }
    console = _CONSOLE.format(seconds=wait, audit=folder / "audit")
    browser = build_opener(HTTPCookieProcessor(CookieJar()))

    def read(path: str, form: dict[str, str] | None = None) -> str:
        sent = None if form is None else urlencode(form).encode()
        with browser.open(f"{address}{path}", sent, timeout=60) as answer:
            return str(answer.read().decode())

    with (
        subprocess.Popen(
            [sys.executable, "-c", console], env=environ, stdout=subprocess.PIPE, text=True
        ) as process,
        ThreadPoolExecutor() as pool,
    ):
        assert process.stdout is not None
        opened = json.loads(process.stdout.readline())["address"]
        browser.open(opened).close()
        address = opened.partition("?")[0]
        (token,) = set(re.findall(r'name="form" value="([^"]+)"', read("do/produce")))
        form = {"form": token, "events": "{}", "step": step}
        with suppress(OSError):
            pool.submit(read, "do/produce", form)
        wait_until("the command has begun", (folder / "said").exists)
        yield process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("wait", "takes", "logged"),
    [(60, 4, (0, "")), (0.5, 600, (None, "stopped with the console"))],
    ids=["waits", "interrupts"],
)
def test_a_command_that_changes_something_ends_before_the_console(
    tmp_path: Path, number: signal.Signals, wait: float, takes: float, logged: tuple[Any, str]
) -> None:
    with _running(tmp_path, "run", wait, takes) as process:
        process.send_signal(number)

        assert process.wait(120) == 128 + number
        assert (tmp_path / "said").read_text() == ("done\n" if wait > takes else "ended\n")
        _, began, ended = map(json.loads, (tmp_path / "audit").read_text().splitlines())
        assert began["stdin"] == "{}"
        assert (ended["code"], ended["error"]) == logged


def test_a_command_that_reads_is_interrupted_with_the_console(tmp_path: Path) -> None:
    with _running(tmp_path, "rehearse", 60, 600) as process:
        process.terminate()

        assert process.wait(120) == 143
        assert (tmp_path / "said").read_text() == "ended\n"
