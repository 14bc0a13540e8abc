"""The console, with commands that print what docs/commands.md says."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.testclient import TestClient

from penstock.extensions.console.app import Console
from penstock.extensions.console.audit import AuditLog
from penstock.extensions.console.guard import Door
from penstock.extensions.console.model import Profile, Side
from penstock.extensions.console.reader import Reader
from penstock.extensions.console.runs import describe_command

HOST = "127.0.0.1:8123"
PROFILES = (
    Profile("meters", Side.PRODUCER, "ssh meters"),
    Profile("analytics", Side.CONSUMER),
    Profile("billing", Side.CONSUMER, "ssh billing"),
)


@dataclass
class PrintedRun:
    """A run that has ended, with what it printed."""

    command: str
    printed: Sequence[Any]
    code: int = 0
    error: str = ""
    size: int = 0
    is_read: bool = False

    async def objects(self) -> AsyncGenerator[Any]:
        for each in self.printed:
            self.size += len(json.dumps(each))
            yield each
        self.is_read = True

    async def text(self) -> str:
        self.is_read = True
        return "".join(self.printed)


@dataclass
class PrintedCommands:
    """In place of commands: `answers` has what they print, by the first words of each."""

    answers: dict[str, Sequence[Any]] = field(default_factory=dict)
    code: int = 0
    error: str = ""
    ran: list[tuple[str, str, str]] = field(default_factory=list)
    runs: list[tuple[PrintedRun, float | None]] = field(default_factory=list)

    @asynccontextmanager
    async def run(
        self,
        profile: str,
        words: Sequence[str],
        given: str = "",
        host: str = "",
        seconds: float | None = None,
    ) -> AsyncGenerator[PrintedRun]:
        command = describe_command(profile, words)
        self.ran.append((command, given, host))
        line = " ".join(words)
        found = [self.answers[each] for each in self.answers if line.startswith(each)]
        run = PrintedRun(command, found[0] if found else (), self.code, self.error)
        self.runs.append((run, seconds))
        yield run


@pytest.fixture
def commands() -> PrintedCommands:
    return PrintedCommands()


@pytest.fixture
def door() -> Door:
    return Door(HOST)


@pytest.fixture
def open_console(commands: PrintedCommands, door: Door) -> Callable[..., TestClient]:
    """Start a console, and return the browser that it let in."""

    def open_it(audit: AuditLog | None = None) -> TestClient:
        app = Console(Reader(PROFILES, commands), door, audit).build()  # type: ignore[arg-type]
        browser = TestClient(app, base_url=f"http://{HOST}")
        browser.get("/", params={"token": door.token})
        return browser

    return open_it


@pytest.fixture
def browser(open_console: Callable[..., TestClient]) -> TestClient:
    return open_console()
