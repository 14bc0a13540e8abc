"""`penstock quality` answers by its exit code: 2 is a rule that failed, 1 an error."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from penstock.cli import main
from penstock.errors import OperationError
from penstock.extensions.quality import StoredReport, command
from tests.fixtures.commands import read_json
from tests.stubs.terminal import Terminal
from tests.unit.extensions.quality.test_page import REPORT

_ENVIRON = {"PENSTOCK_WORKGROUP": "penstock-lake"}


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arguments of the checks, all of which find the same."""
    calls: list[Any] = []

    def check(*arguments: Any, report: Any) -> StoredReport:
        calls.append(arguments)
        report("Athena answers query 1", None, None)
        return StoredReport(REPORT, ("reports/lake.readings/1.json",))

    monkeypatch.setattr(command, "check_quality", check)
    return calls


def test_a_rule_that_failed_is_printed(
    checked: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["quality", "lake.readings", "--since", "3", "--into", "reports"]

    assert main(words, _ENVIRON) == 2

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "lake.readings, since 2026-11-14: 30 rows"
    assert [line.split()[:2] for line in lines[2:5]] == [
        ["rows", "holds"], ["required-nulls", "failed"], ["lag", "not-checked"],
    ]  # fmt: skip
    assert lines[-1] == "written to reports/lake.readings/1.json"
    ((settings, table, topics, into),) = checked
    assert (settings.since, table, topics, into) == (3, "lake.readings", None, "reports")


def test_rules_that_hold_end_with_0_and_print_json(
    checked: list[Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = StoredReport(replace(REPORT, rules=REPORT.rules[:1]), ())
    monkeypatch.setattr(command, "check_quality", lambda *_, **__: sound)

    assert main(["quality", "lake.readings", "--output", "json"], _ENVIRON) == 0

    (told,) = read_json("quality", capsys.readouterr().out)
    assert (told["failed"], told["places"]) == (0, [])


def test_json_has_the_report_and_where_it_was_written(
    checked: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["quality", "lake.readings", "--into", "reports", "--output", "json"]

    with patch.object(sys, "stderr", Terminal()) as stderr:
        assert main(words, _ENVIRON) == 2

    (told,) = read_json("quality", capsys.readouterr().out)
    assert told == REPORT.to_json() | {"places": ["reports/lake.readings/1.json"]}
    assert "\r\x1b[KAthena answers query 1, 0 s\r\x1b[K" in stderr.getvalue()


def test_kafka_is_asked_if_the_command_says_so(checked: list[Any]) -> None:
    words = ["quality", "lake.readings", "--bootstrap-servers", "b:9092", "--security", "tls"]

    assert main(words, _ENVIRON) == 2
    assert main([*words, "--kafka"], _ENVIRON) == 2

    assert checked[0][2] is None
    assert checked[1][2].kafka.bootstrap_servers == ("b:9092",)


@pytest.mark.parametrize("words", [[], ["readings"], ["lake.readings", "--late-share=2"]])
def test_wrong_usage_ends_with_1(words: list[str], checked: list[Any]) -> None:
    try:
        code: Any = main(["quality", *words], _ENVIRON)
    except SystemExit as error:
        code = error.code

    assert (code, checked) == (1, [])


def test_an_error_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> StoredReport:
        raise OperationError("the query failed")

    monkeypatch.setattr(command, "check_quality", fail)

    assert main(["quality", "lake.readings"], _ENVIRON) == 1
    assert capsys.readouterr().err == "penstock: the query failed\n"
