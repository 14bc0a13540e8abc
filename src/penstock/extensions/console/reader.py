"""The output of commands for a profile, as pages of a browser and tools of an agent need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from penstock.errors import OperationError
from penstock.extensions.console.model import Command, Profile, Side
from penstock.extensions.console.runs import PAGE_SECONDS, Commands, Run

MOST_OBJECTS: Final = 1_000
_MOST_BYTES: Final = 16 * 2**20  # as objects of Python they take up to 20 times as much memory


@dataclass(frozen=True, slots=True)
class Shown:
    """A run that has ended, or was stopped after enough objects, with what it printed."""

    run: Run
    objects: tuple[Any, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Reader:
    """Runs commands with the profiles of a file."""

    profiles: tuple[Profile, ...]
    commands: Commands

    def choose(self, name: str, sides: Sequence[Side]) -> Profile:
        """Return the profile with a name, or without one the first of these sides.

        Raises:
            OperationError: no profile has that name, or none is of these accounts.
        """
        fitting = {each.name: each for each in self.profiles if each.side in sides}
        asked = name or next(iter(fitting), "")
        if asked in fitting:
            return fitting[asked]
        known = ", ".join(fitting) or f"none: no profile is of a {' or '.join(sides)}"
        raise OperationError(f"found the profile {asked!r}, expected one of {known}")

    async def read(self, profile: Profile, command: Command, given: Mapping[str, str]) -> Shown:
        """Run a command; it is stopped after `PAGE_SECONDS`, or if it prints too much for a page.

        A page has `MOST_OBJECTS`, and of large ones fewer.
        """
        return await self._collect(profile, command, given, PAGE_SECONDS)

    async def draw(self, profile: Profile, command: Command, given: Mapping[str, str]) -> str:
        """Return the text that a command prints in place of objects.

        Raises:
            OperationError: it failed, and why.
        """
        words = command.build(command.read_values(given))
        async with self.commands.run(profile.name, words, seconds=PAGE_SECONDS) as run:
            text = await run.text()
        if not text:
            raise OperationError(run.error.strip())
        return text

    async def change(self, profile: Profile, command: Command, given: Mapping[str, str]) -> Shown:
        """Run a command that changes something, to its end; what a page has room for is kept."""
        return await self._collect(profile, command, given, None)

    async def _collect(
        self, profile: Profile, command: Command, given: Mapping[str, str], seconds: float | None
    ) -> Shown:
        values = command.read_values(given)
        stdin = values.get(command.stdin, "")
        host = profile.choose_host(command)
        objects: list[Any] = []
        is_whole = True
        async with (
            self.commands.run(profile.name, command.build(values), stdin, host, seconds) as run,
            aclosing(run.objects()) as printed,
        ):
            async for each in printed:
                fits = run.size <= _MOST_BYTES or not objects
                if is_whole and fits and len(objects) < MOST_OBJECTS:
                    objects.append(each)
                    continue
                is_whole = False
                if seconds is not None:
                    break
        return Shown(run, tuple(objects), is_whole)
