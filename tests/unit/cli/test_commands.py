"""Commands of other packages are entry points; one that cannot be loaded stops no other."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace

import pytest

from examples import own_command
from penstock.cli import commands, main


def _add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.set_defaults(run=lambda _: print(f"hello {environ['NAME']}") or 0)


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(point: EntryPoint) -> SimpleNamespace:
        if point.value == "broken":
            raise ImportError("No module named 'absent'")
        return SimpleNamespace(HELP="Say hello.", add_to=_add_to)

    found = [
        EntryPoint(name, value, "penstock.commands")
        for name, value in {"hello": "own", "schema.hello": "own", "bad": "broken"}.items()
    ]
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
def test_a_command_that_cannot_be_loaded_says_so_and_stops_no_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bad", "words"], {}) == 2
    assert main(["hello"], {"NAME": "you"}) == 0
    said = capsys.readouterr()
    assert said.err == "penstock: broken cannot be loaded: No module named 'absent'\n"
    assert said.out == "hello you\n"


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
