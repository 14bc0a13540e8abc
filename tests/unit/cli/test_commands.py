"""Commands of other packages are entry points; one that cannot be loaded stops no other."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace

import pytest

from examples import own_command
from penstock.cli import commands, main


def _add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.set_defaults(run=lambda _: print(f"hello {environ['NAME']}") or 0)


_LOADED = {
    "own": SimpleNamespace(HELP="Say hello.", add_to=_add_to),
    "absent": ImportError("No module named 'absent'"),
    "typo": SyntaxError("invalid syntax"),
    "json": json,
    "helpless": SimpleNamespace(HELP=None, add_to=_add_to),
    "idle": SimpleNamespace(HELP="Do nothing."),
}


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(point: EntryPoint) -> object:
        loaded = _LOADED[point.value]
        if isinstance(loaded, Exception):
            raise loaded
        return loaded

    named = {"hello": "own", "schema.hello": "own"} | {f"the-{each}": each for each in _LOADED}
    found = [EntryPoint(name, value, "penstock.commands") for name, value in named.items()]
    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr(commands, "entry_points", lambda group: EntryPoints(found))


@pytest.mark.usefixtures("points")
@pytest.mark.parametrize(
    "words", [["hello"], ["schema", "hello", "--registry", "glue://plant"]], ids=" ".join
)
def test_an_installed_command_runs_at_its_place(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words, {"NAME": "you"}) == 0
    assert capsys.readouterr().out == "hello you\n"


@pytest.mark.usefixtures("points")
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("absent", "cannot be loaded: ImportError: No module named 'absent'"),
        ("typo", "cannot be loaded: SyntaxError: invalid syntax"),
        ("json", "has no HELP, expected the text HELP and the function add_to"),
        ("helpless", "has no HELP, expected the text HELP and the function add_to"),
        ("idle", "has no add_to, expected the text HELP and the function add_to"),
    ],
)
def test_a_command_that_cannot_be_loaded_says_so_and_stops_no_other(
    value: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"the-{value}", "words"], {}) == 2
    assert main(["hello"], {"NAME": "you"}) == 0
    said = capsys.readouterr()
    assert said.err == f"penstock: {value} {problem}\n"
    assert said.out == "hello you\n"

    with pytest.raises(SystemExit, match="0"):
        main(["--help"], {})
    assert f"{value} {problem}" in " ".join(capsys.readouterr().out.split())


def test_the_example_runs_as_an_installed_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    point = EntryPoint("newest", own_command.__name__, "penstock.commands")
    monkeypatch.setattr(commands, "entry_points", lambda group: EntryPoints([point]))
    monkeypatch.setattr(own_command, "list_schemas", lambda url: ["pump", "valve"])
    numbers = {"pump": [1, 2], "valve": [1]}
    monkeypatch.setattr(
        own_command,
        "read_versions",
        lambda url, name: SimpleNamespace(
            versions=[SimpleNamespace(number=number) for number in numbers[name]]
        ),
    )

    assert main(["newest"], {"PENSTOCK_REGISTRY": "glue://plant"}) == 0
    assert main(["newest", "--registry", "glue://plant", "--output", "json"], {}) == 0
    assert main(["newest"], {}) == 2
    said = capsys.readouterr()
    assert said.out == 'pump 2\nvalve 1\n{"pump": 2, "valve": 1}\n'
    assert "--registry is missing" in said.err
