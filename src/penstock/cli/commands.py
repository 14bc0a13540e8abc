"""Commands that are installed: entry points in the group `penstock.commands`.

The name of an entry point is that of its command, such as `quality`. A command below another one
has the name of that one before it, such as `schema.drift`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Protocol

from penstock.errors import SettingsError

_GROUP: Final = "penstock.commands"
_PARTS: Final[dict[str, Any]] = {"HELP": str, "add_to": Callable}


class Command(Protocol):
    """A command: usually a module."""

    @property
    def HELP(self) -> str:
        """Return one sentence that says what the command does."""

    def add_to(self, parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
        """Add its arguments to a parser, and the default `run`: a function of parsed arguments."""


@dataclass(frozen=True, slots=True)
class _Broken:
    """In place of a command that cannot be loaded: the other ones work."""

    problem: str

    @property
    def HELP(self) -> str:
        return self.problem

    def add_to(self, parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
        parser.add_argument("words", nargs=argparse.REMAINDER)
        parser.set_defaults(run=partial(_fail, self.problem))


def add_installed(
    commands: Any, environ: Mapping[str, str], parent: str
) -> list[argparse.ArgumentParser]:
    """Add the installed commands below `parent` to its commands, and return their parsers."""
    return [
        add_command(commands, name, load_command(point), environ)
        for name, point in find_commands(parent).items()
    ]


def add_command(
    commands: Any,
    name: str,
    command: Command,
    environ: Mapping[str, str],
    *,
    is_listed: bool = True,
) -> argparse.ArgumentParser:
    """Add a command to others, and to the list in their help, and return its parser."""
    listed = {"help": command.HELP} if is_listed else {}
    parser: argparse.ArgumentParser = commands.add_parser(name, description=command.HELP, **listed)
    command.add_to(parser, environ)
    return parser


def find_commands(parent: str = "") -> dict[str, EntryPoint]:
    """Return the installed commands below a command, or those of the top, by their names."""
    found = {}
    for point in sorted(entry_points(group=_GROUP)):
        above, _, name = point.name.rpartition(".")
        if above == parent:
            found[name] = point
    return found


def load_command(point: EntryPoint) -> Command:
    """Import an installed command; one that cannot be imported says so when it is run."""
    try:
        command: Command = point.load()
    except Exception as error:  # whatever its code raises
        return _Broken(f"{point.value} cannot be loaded: {type(error).__name__}: {error}")
    for name, kind in _PARTS.items():
        if not isinstance(getattr(command, name, None), kind):
            expected = "expected the text HELP and the function add_to"
            return _Broken(f"{point.value} has no {name}, {expected}")
    return command


def _fail(problem: str, _: argparse.Namespace) -> int:
    raise SettingsError([problem])
