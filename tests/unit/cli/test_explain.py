"""`penstock explain` prints the pages of reasons."""

from __future__ import annotations

import pytest

from penstock.cli import main
from penstock.reasons import find_page, list_pages
from tests.fixtures.commands import read_json


def test_a_page_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "truncated"], {}) == 0

    assert capsys.readouterr().out == find_page("truncated").text


def test_without_a_reason_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"], {}) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [page.name for page in list_pages()]


def test_pages_are_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--output", "json"], {}) == 0

    found = read_json("explain", capsys.readouterr().out)
    assert [each["text"] for each in found] == [page.text for page in list_pages()]


def test_a_reason_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "truncatd"], {}) == 1

    assert "did you mean truncated?" in capsys.readouterr().err
