"""Every command that the README tells a reader to type exists."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_TARGETS = set(re.findall(r"^([a-z-]+):", (_ROOT / "Makefile").read_text(), re.MULTILINE))


def _commands(text: str) -> list[str]:
    """The lines of the README's `sh` blocks, without comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def _fault(command: str) -> str:
    """What is wrong with a command, or nothing."""
    match shlex.split(command):
        case ["git", "clone", *_] | ["cd", *_]:
            return ""
        case ["make", *words]:
            targets = [word for word in words if "=" not in word]
            unknown = [target for target in targets if target not in _TARGETS]
            return f"no target {unknown} in the Makefile" if unknown else ""
        case [".venv/bin/python", "-m", module, *_]:
            return "" if importlib.util.find_spec(module) else f"no module {module}"
        case [".venv/bin/python", path, *_]:
            return "" if (_ROOT / path).is_file() else f"no file {path}"
        case [program, *_]:
            return f"{program} is not a program this test knows how to look up"
        case _:
            return "an empty command"


def test_every_command_exists() -> None:
    commands = _commands((_ROOT / "README.md").read_text())

    assert len(commands) >= 3
    assert {command: _fault(command) for command in commands if _fault(command)} == {}


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("make nothing", "no target ['nothing'] in the Makefile"),
        ('make test ARGS="-k x"', ""),
        (".venv/bin/python -m no_such_module", "no module no_such_module"),
        (".venv/bin/python examples/no_such_file.py x", "no file examples/no_such_file.py"),
        ("curl x", "curl is not a program this test knows how to look up"),
    ],
)
def test_a_command_that_does_not_exist_is_found(command: str, fault: str) -> None:
    assert _fault(command) == fault


def test_comments_and_other_blocks_are_not_commands() -> None:
    text = "```sh\n# a note\nmake test  # all\n```\n```text\nmake nothing\n```\n"

    assert _commands(text) == ["make test"]
