"""Every command has a help text with its exit codes."""

from __future__ import annotations

import pytest

from penstock.cli import main

_COMMANDS = [
    [],
    ["contract"],
    ["errors"],
    ["errors", "list"],
    ["errors", "show"],
    ["errors", "replay"],
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
    assert "\n  1  at least one thing failed" in printed
    assert max(map(len, printed.splitlines())) <= 100


@pytest.mark.parametrize("words", [[], ["rejected"], ["submit"], ["nothing"]])
def test_missing_and_unknown_words_are_wrong_usage(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words, {})

    assert caught.value.code == 2
    assert "usage: penstock" in capsys.readouterr().err
