"""Commands run in processes of their own, and end with the block that reads them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.extensions.console import runs
from penstock.extensions.console.runs import Commands, Run

_ENVIRON = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
# In place of `ssh HOST`: it runs other words than it is told.
_COUNT = (
    """sh -c 'for each in 1 2 3; do echo "{\\"each\\": $each}"; done; echo why >&2; exit 3' --"""
)
_ENDLESS = """sh -c 'echo 1; exec sleep 600' --"""
_ECHO = """sh -c 'cat; printf "[\\"%s\\"]" "$1"' --"""


def _run(host: str, words: Sequence[str] = ("read",), **options: Any) -> tuple[Run, list[Any]]:
    async def run_it() -> tuple[Run, list[Any]]:
        found = []
        async with Commands(_ENVIRON).run("one", words, host=host, **options) as run:
            async for each in run.objects():
                found.append(each)
        return run, found

    return asyncio.run(run_it())


def test_its_objects_its_code_and_what_it_says() -> None:
    run, found = _run(_COUNT)

    assert found == [{"each": 1}, {"each": 2}, {"each": 3}]
    assert (run.code, run.error) == (3, "why\n")


def test_a_host_gets_one_word_for_its_shell_and_the_text_for_stdin() -> None:
    run, found = _run(_ECHO, ["read", "--where=a b", "--", "$(touch x)"], given="1\n")

    assert found == [1, ["penstock --profile one read '--where=a b' --output=json -- '$(touch x)'"]]
    assert run.command == "penstock --profile one read '--where=a b' -- '$(touch x)'"


def test_a_stdin_without_a_text_ends_with_the_block() -> None:
    async def run_it() -> list[Any]:
        host = """sh -c 'echo 1; cat; echo 2' --"""
        async with Commands(_ENVIRON).run("", ["read"], None, host) as run:
            objects = run.objects()
            found = [await anext(objects)]
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(objects), 0.3)
            return found

    assert asyncio.run(run_it()) == [1]


def test_a_picture_is_the_text_that_a_command_prints() -> None:
    async def run_it() -> str:
        words = ["lineage", "--output=svg", "--", "sensor"]
        async with Commands(_ENVIRON).run("", words, host=_ECHO) as run:
            return await run.text()

    assert asyncio.run(run_it()) == '["penstock lineage --output=svg -- sensor"]'


def test_it_is_stopped_when_its_time_is_over() -> None:
    run, found = _run(_ENDLESS, seconds=0.5)

    assert (found, run.code) == ([1], None)
    assert run.error == "the command was stopped after 0.5 s\n"


@pytest.mark.parametrize("ignored", ["", "INT", "INT TERM"])
def test_it_is_interrupted_before_it_is_ended(
    ignored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_END_SECONDS", 0.5)
    ended = tmp_path / "ended"
    tells = (f'trap "echo {name} >{ended}; exit" {name};' for name in ("INT", "TERM"))
    ignores = f'trap "" {ignored};' if ignored else ""
    # The shell waits for a child that SIGKILL alone ends, if the shell ignores the other signals.
    _run(f"""sh -c '{" ".join(tells)} {ignores} echo 1; sleep 600' --""", seconds=0.5)

    said = {"": "INT\n", "INT": "TERM\n", "INT TERM": None}[ignored]
    assert (ended.read_text() if ended.exists() else None) == said


def test_it_is_stopped_when_nobody_reads_on() -> None:
    async def run_it() -> Run:
        async with Commands(_ENVIRON).run("", ["read"], host=_ENDLESS, seconds=None) as run:
            async for _ in run.objects():
                break
        return run

    assert asyncio.run(asyncio.wait_for(run_it(), 5)).code is None


def test_a_line_of_megabytes_is_read() -> None:
    _, (found,) = _run("""sh -c 'printf "\\"%08000000d\\"" 0' --""")

    assert len(found) == 8_000_000


def test_a_line_that_is_too_long_for_a_page_is_left_out_and_named() -> None:
    run, found = _run("""sh -c 'echo 1; printf "\\"%017000000d\\"\\n2\\n" 0' --""")

    assert (found, run.code) == ([1, 2], 0)
    assert run.error == "found an object of more than 16 MiB; the command can print it\n"


def test_the_command_of_this_python_has_the_profile_of_a_terminal() -> None:
    async def run_it() -> Run:
        async with Commands(_ENVIRON).run("nobody", ["config", "show"]) as run:
            assert [each async for each in run.objects()] == []
        return run

    run = asyncio.run(run_it())
    assert run.code == 2
    assert "nobody" in run.error
