"""`penstock mcp`, asked by the protocol's own client: tools that read, with what commands print."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from penstock.extensions.console.pages import ACTIONS
from penstock.extensions.console.reader import Reader
from penstock.extensions.console.tools import MOST_CHARACTERS, TOOLS, answer, describe_input
from tests.fixtures.commands import documented
from tests.unit.extensions.console.conftest import PROFILES, PrintedCommands

_CONFIG = """\
default = "meters"

[profiles.meters]
AWS_REGION = "eu-central-1"
PENSTOCK_TOPIC = "sensor"
"""


def _answer(commands: PrintedCommands, tool: str, **given: Any) -> tuple[str, bool]:
    return asyncio.run(answer(Reader(PROFILES, commands), tool, given))  # type: ignore[arg-type]


def test_a_client_lists_the_tools_and_calls_one(tmp_path: Path) -> None:
    config = tmp_path / "penstock.toml"
    config.write_text(_CONFIG)
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "penstock.cli", "mcp"],
        env={"PATH": os.environ["PATH"], "PENSTOCK_CONFIG": str(config)},
    )

    async def ask() -> tuple[Any, Any, Any]:
        async with (
            stdio_client(started) as (received, sent),
            ClientSession(received, sent) as session,
        ):
            await session.initialize()
            listed = await session.list_tools()
            called = await session.call_tool("settings", {})
            refused = await session.call_tool("lag", {})
        return listed, called, refused

    listed, called, refused = asyncio.run(asyncio.wait_for(ask(), 60))

    assert {each.name for each in listed.tools} == TOOLS.keys()
    assert all(each.annotations.read_only_hint for each in listed.tools)
    command, shown = called.content[0].text.splitlines()
    assert command == "$ penstock --profile meters config show"
    assert json.loads(shown)["settings"]["PENSTOCK_TOPIC"]["value"] == "sensor"
    assert refused.is_error
    assert refused.content[0].text.startswith("found the profile ''")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_though_its_stdin_does_not(number: signal.Signals, code: int) -> None:
    words = [sys.executable, "-m", "penstock.cli", "mcp"]
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(ping)
        process.stdin.flush()
        assert process.stdout.readline()

        process.send_signal(number)

        assert process.wait(30) == code


def test_no_tool_changes_anything() -> None:
    writing = {each.command.words for each in ACTIONS}

    assert not {each.command.words for each in TOOLS.values()} & writing


def test_it_answers_with_what_the_command_prints() -> None:
    (record,) = documented()["read"][:1]
    commands = PrintedCommands({"read": [record]})

    text, failed = _answer(commands, "records", topic="sensor", count=5)

    assert not failed
    command, printed = text.splitlines()
    assert command == "$ penstock --profile meters read --from=-20 --count=5 -- sensor"
    assert json.loads(printed) == record


@pytest.mark.parametrize(
    ("tool", "given", "why"),
    [
        ("produce", {}, "found the tool 'produce', expected one of topics, "),
        ("records", {}, "found no topic, expected one"),
        ("records", {"topic": "x", "output": "text"}, "found output, expected some of count, "),
        ("records", {"topic": "x", "profile": "me"}, "found the profile 'me', expected one of "),
    ],
)
def test_a_wrong_call_is_refused(tool: str, given: dict[str, str], why: str) -> None:
    commands = PrintedCommands()

    text, failed = _answer(commands, tool, **given)

    assert failed
    assert text.startswith(why)
    assert commands.ran == []


def test_a_long_answer_is_cut() -> None:
    commands = PrintedCommands({"topics": ["x" * 1_000] * 1_001})

    text, _ = _answer(commands, "topics")

    assert len(text) < MOST_CHARACTERS + 200
    assert "(cut after 100,000 characters)" in text
    assert "(only the first 1,000 objects)" in text


def test_the_arguments_are_those_of_the_form() -> None:
    described = describe_input(TOOLS["records"], ["meters"])

    assert described["required"] == ["topic"]
    assert described["properties"]["from"] == {"type": "string", "title": "From", "default": "-20"}
    assert described["properties"]["profile"]["enum"] == ["meters"]
