"""Every command of `penstock` prints JSON, which docs/commands.md documents."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from penstock.cli.command import _build_parser
from tests.fixtures.commands import documented


def _leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of a command that has no commands of its own."""
    choices = [
        each.choices for each in parser._actions if isinstance(each, argparse._SubParsersAction)
    ]
    for parsers in choices:
        for below in parsers.values():
            yield from _leaves(below)
    if not choices:
        yield parser


_COMMANDS = {each.prog.removeprefix("penstock "): each for each in _leaves(_build_parser({}))}
# It prints a program of a shell.
del _COMMANDS["completion"]


@pytest.mark.parametrize("command", _COMMANDS)
def test_a_command_prints_json(command: str) -> None:
    (output,) = [each for each in _COMMANDS[command]._actions if each.dest == "output"]

    assert output.option_strings == ["--output"]
    assert tuple(output.choices or ())[:2] == ("text", "json")  # and other forms of a standard
    assert output.default == "text"
    assert "json prints " in (output.help or "")


def test_the_page_has_the_json_of_every_command() -> None:
    assert len(_COMMANDS) > 20
    assert {words.partition(" --")[0] for words in documented()} == _COMMANDS.keys()
    assert all(documented().values())
