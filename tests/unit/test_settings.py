"""Settings: argument, then environment, then default; every problem at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError, dataclass

import pytest

from penstock.errors import SettingsError
from penstock.settings import (
    SettingRow,
    Settings,
    describe_settings,
    nested,
    parse_names,
    setting,
)


@dataclass(frozen=True, slots=True)
class _Source(Settings):
    url: str = setting("COPY_URL", "where to copy from")
    password: str = setting("COPY_PASSWORD", "password of the source", default="", secret=True)
    pin: int = setting("COPY_PIN", "a number", parse=int, default=0, secret=True)


@dataclass(frozen=True, slots=True)
class _Copy(Settings):
    source: _Source = nested(_Source)
    least_files: int = setting("COPY_LEAST", "files to copy at least", parse=int, default=1)
    most_files: int = setting("COPY_MOST", "files to copy at most", parse=int, default=10)

    def problems(self) -> Iterator[str]:
        if None not in (self.least_files, self.most_files) and self.least_files > self.most_files:
            yield "COPY_LEAST is above COPY_MOST"
        if self.source.url == "ftp":
            yield "COPY_URL is ftp"


def _problems(argv: list[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        _Copy.from_args(argv, environ)
    return caught.value.problems


def test_environment_then_default() -> None:
    settings = _Copy.from_environ({"COPY_URL": "http", "COPY_MOST": "20", "COPY_LEAST": ""})

    assert settings == _Copy(_Source("http"), least_files=1, most_files=20)


def test_argument_then_environment() -> None:
    argv = ["--url", "a", "--most-files=30"]

    settings = _Copy.from_args(argv, {"COPY_URL": "b", "COPY_LEAST": "3", "COPY_MOST": "20"})

    assert settings == _Copy(_Source("a"), least_files=3, most_files=30)


def test_arguments_fall_back_to_the_process_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPY_URL", "from the process")

    assert _Copy.from_args([]).source.url == "from the process"


def test_every_problem_is_in_one_error() -> None:
    argv = ["--least-files", "x", "--fast", "now"]

    assert _problems(argv, {"COPY_MOST": "1.5"}) == (
        "COPY_URL (--url) is missing, expected where to copy from",
        "--least-files is 'x', expected files to copy at least",
        "COPY_MOST is '1.5', expected files to copy at most",
        "--fast is not an argument of this program",
        "found a value that belongs to no argument of this program",
    )


def test_problems_of_values_as_a_whole_are_found_beside_unreadable_ones() -> None:
    assert _problems([], {"COPY_URL": "ftp", "COPY_MOST": "many"}) == (
        "COPY_MOST is 'many', expected files to copy at most",
        "COPY_URL is ftp",
    )
    assert _problems([], {"COPY_LEAST": "5", "COPY_MOST": "3"}) == (
        "COPY_URL (--url) is missing, expected where to copy from",
        "COPY_LEAST is above COPY_MOST",
    )


def test_a_flag_without_its_value() -> None:
    (problem,) = _problems(["--url"], {})

    assert problem == "argument --url: expected one argument"


def test_values_from_code_are_checked() -> None:
    with pytest.raises(SettingsError, match=r"^COPY_URL is ftp$"):
        _Copy(_Source("ftp"))


def test_secrets_are_in_no_message() -> None:
    environ = {"COPY_URL": "http", "COPY_PASSWORD": "open sesame"}

    assert "sesame" not in repr(_Copy.from_environ(environ))
    (problem,) = _problems([], environ | {"COPY_PIN": "open sesame"})
    assert problem == "COPY_PIN cannot be used, expected a number"
    for argv in (["--pasword", "sesame"], ["--pasword=sesame"], ["sesame"]):
        assert "sesame" not in " ".join(_problems(argv, environ))


def test_settings_do_not_change() -> None:
    settings = _Copy(_Source("http"))

    with pytest.raises(FrozenInstanceError):
        settings.most_files = 5  # type: ignore[misc] # that is the point


def test_names_are_told_apart_without_their_spaces() -> None:
    assert parse_names("a") == ("a",)
    assert parse_names(" a, b c ,d") == ("a", "b c", "d")


@pytest.mark.parametrize("text", ["", " ", ",", "a,", ",a", "a, ,b"])
def test_an_empty_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        parse_names(text)


def test_the_table_of_settings() -> None:
    assert describe_settings(_Copy) == (
        SettingRow("COPY_URL", "--url", None, "where to copy from"),
        SettingRow("COPY_PASSWORD", "--password", "", "password of the source"),
        SettingRow("COPY_PIN", "--pin", "0", "a number"),
        SettingRow("COPY_LEAST", "--least-files", "1", "files to copy at least"),
        SettingRow("COPY_MOST", "--most-files", "10", "files to copy at most"),
    )


@pytest.mark.parametrize("nothing", [None, (), frozenset(), ""])
def test_no_value_is_shown_as_none(nothing: object) -> None:
    @dataclass(frozen=True, slots=True)
    class Chosen(Settings):
        chosen: object = setting("CHOSEN", "what to copy alone", default=nothing)

    assert [row.default for row in describe_settings(Chosen)] == [""]


def test_help_lists_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        _Copy.from_args(["--help"], {})

    assert ended.value.code == 0
    assert "where to copy from [COPY_URL]" in capsys.readouterr().out


def test_help_takes_a_meaning_with_a_percent_sign(capsys: pytest.CaptureFixture[str]) -> None:
    @dataclass(frozen=True, slots=True)
    class Share(Settings):
        share: int = setting("SHARE", "100% or less", parse=int, default=100)

    with pytest.raises(SystemExit):
        Share.from_args(["--help"], {})

    assert "100% or less [SHARE]" in capsys.readouterr().out
