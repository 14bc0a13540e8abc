"""Every command has a help text with its exit codes."""

from __future__ import annotations

import argparse
import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from penstock.cli import command, main
from penstock.cli.command import _build_parser
from penstock.cli.commands import Command

# Types whose errors are sentences; a wrong int is "invalid int value".
_CLEAR = {None, "Path", "int", "parse_argument", "_read_names"}
_COMMANDS = [
    [],
    ["access"],
    ["access", "list"],
    ["access", "plan"],
    ["access", "apply"],
    ["cdc"],
    ["cdc", "list"],
    ["cdc", "check"],
    ["cdc", "explain"],
    ["cdc", "count"],
    ["completion"],
    ["config"],
    ["config", "show"],
    ["contract"],
    ["cost"],
    ["errors"],
    ["errors", "list"],
    ["errors", "show"],
    ["errors", "replay"],
    ["init"],
    ["produce"],
    ["read"],
    ["registry"],
    ["registry", "copy"],
    ["rejected"],
    ["rejected", "list"],
    ["rejected", "replay"],
    ["schema"],
    ["schema", "check"],
    ["schema", "register"],
    ["schema", "diff"],
    ["schema", "show"],
    ["schema", "versions"],
    ["schema", "list"],
    ["schema", "export"],
    ["schema", "import"],
    ["staging"],
    ["staging", "check"],
    ["submit"],
]


@pytest.mark.parametrize("words", _COMMANDS, ids=" ".join)
def test_help_lists_the_exit_codes(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*words, "--help"], {})

    printed = capsys.readouterr().out
    assert caught.value.code == 0
    assert printed.startswith(f"usage: penstock {' '.join(words)}".rstrip())
    assert "\n  1  " in printed
    assert max(map(len, printed.splitlines())) <= 100


@pytest.mark.parametrize("words", [[], ["rejected"], ["submit"], ["nothing"]])
def test_missing_and_unknown_words_are_wrong_usage(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words, {})

    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("--help")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["shema"], "found no command 'shema', did you mean schema? Expected one of init, config"),
        (["schema", "versoins"], "found no command 'versoins', did you mean versions? Expected"),
        (["rejected", "lst"], "did you mean list? Expected one of list, replay"),
        (["access", "aply"], "did you mean apply? Expected one of list, plan, apply"),
        (["registry", "xyz"], "found no command 'xyz', expected one of copy"),
    ],
)
def test_the_nearest_command_is_suggested(
    words: list[str], found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words, {})

    (line,) = capsys.readouterr().err.splitlines()
    assert caught.value.code == 2
    assert found in line and "argument" not in line


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["read", "sensor", "--from", "yesterday"], "found 'yesterday', expected beginning, end"),
        (
            ["read", "sensor", "--count", "ten"],
            "found 'ten', expected a whole number of at least 1",
        ),
        (["read", "sensor", "--partition", "-1"], "expected a whole number of at least 0"),
        (["produce", "--rate", "0"], "found '0', expected a number above 0"),
        (["quality", "readings"], "found 'readings', expected DATABASE.TABLE"),
        (["schema", "drift", "--rows", "x"], "found 'x', expected a whole number of at least 1"),
        (["console", "--port", "65536"], "found '65536', expected a port from 0 to 65,535"),
        (["console", "--port", "99999999"], "found '99999999', expected a port from 0 to 65,535"),
        (["lag", "--listen", "localhost:65536"], "found 'localhost:65536', expected HOST:PORT"),
        (["lag", "--listen", "9308"], "found '9308', expected HOST:PORT"),
    ],
)
def test_a_wrong_argument_is_told_in_a_line_with_what_is_expected(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words, {})

    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line


@pytest.mark.parametrize(
    ("words", "code", "settings"),
    [
        (
            ["errors", "show", "x"],
            2,
            ["PENSTOCK_PARKED_BUCKET (--bucket)", "PENSTOCK_ERRORS_TABLE"],
        ),
        (
            ["schema", "versions", "x"],
            2,
            ["PENSTOCK_REGISTRY (--registry) is missing, expected the"],
        ),
        (["schema", "drift", "x"], 1, ["PENSTOCK_REGISTRY (--registry) is missing"]),
        (["lineage"], 1, ["PENSTOCK_REGISTRY (--registry)", "PENSTOCK_WORKGROUP (--workgroup)"]),
        (
            ["lineage", "--registry", "glue://x", "--workgroup", "w"],
            1,
            ["PENSTOCK_PRODUCER_ROOT or PENSTOCK_CONSUMER_ROOT (--outputs) is missing"],
        ),
    ],
)
def test_every_missing_setting_is_told_by_its_flag_and_its_variable(
    words: list[str], code: int, settings: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words, {}) == code

    said = capsys.readouterr().err
    assert all(each in said for each in settings)
    assert said.count(" is missing, expected ") == len(settings)


@pytest.mark.parametrize(
    "words",
    [
        ("access", "list"),
        ("cdc", "count", "a.b", "--database", "d", "--topics", "t"),
        ("cost", "--events", "1", "--plot", "none/plot.svg"),
        ("doctor", "--contract", "CONTRACT", "--connect"),
        ("lineage", "--registry", "glue://x", "--workgroup", "w"),
        ("quality", "lake.readings"),
        ("schema", "drift", "sensor", "--registry", "ftp://x"),
        ("schema", "plan", "FOLDER", "--registry", "ftp://x"),
        ("trace", "sensor/0/1", "--registry", "ftp://x"),
    ],
    ids=" ".join,
)
def test_wrong_settings_are_no_answer_of_a_command(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contract = {"brokers": {}, "registry": {}, "producer_account_id": "1", "region": "eu-north-1"}
    places = {"CONTRACT": str(tmp_path / "contract.json"), "FOLDER": str(tmp_path)}
    Path(places["CONTRACT"]).write_text(json.dumps({"contract": contract}))

    try:
        code = main([places.get(word, word) for word in words], {})
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert (code, capsys.readouterr().err[:8]) == (1, "penstock")


def test_no_argument_names_a_function_of_the_code() -> None:
    parsers = [_build_parser({})]
    for parser in parsers:
        for action in parser._actions:
            parsers += (action.choices or {}).values() if action.nargs == argparse.PARSER else []
            assert getattr(action.type, "__name__", None) in _CLEAR, (parser.prog, action.dest)


def test_a_group_shows_its_commands() -> None:
    groups = [
        (command_name, action)
        for command_name, parser in _find_groups(_build_parser({})).items()
        for action in parser._actions
        if action.nargs == argparse.PARSER
    ]

    assert {name for name, _ in groups} > {"access", "cdc", "rejected", "schema", "staging"}
    for name, action in groups:
        assert action.metavar == "|".join(action.choices or ()), name


def _find_groups(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (commands,) = [each.choices for each in parser._actions if each.nargs == argparse.PARSER]
    return dict(commands or {})


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"], {})

    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("penstock 0.")


@pytest.mark.parametrize(
    ("shell", "sign"), [("bash", "complete "), ("zsh", "compdef"), ("fish", "complete ")]
)
def test_a_shell_completes(shell: str, sign: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell], {}) == 0

    assert sign in capsys.readouterr().out


def test_only_the_extension_of_a_command_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    load = command.load_command

    def load_it(point: EntryPoint) -> Command:
        loaded.append(point.name)
        return load(point)

    monkeypatch.setattr(command, "load_command", load_it)
    for words in (["read", "x"], ["lag"], ["cost"]):
        with pytest.raises(SystemExit):
            main([*words, "--help"], {})

    assert loaded == ["lag", "cost"]
    assert command._find_name(["--profile", "lag", "--profile=lag", "read"], {}) == "read"
    assert command._find_name(["--help"], {}) == "--help"  # no command, so all are listed
    assert command._find_name(["lag"], {"_ARGCOMPLETE": "1"}) == ""
