"""What the demo prints."""

from __future__ import annotations

import re

import pytest
from botocore.exceptions import ClientError

from demo.screen import StepFailedError, Steps, print_failure, print_table, story_steps


def test_a_table_is_as_wide_as_its_cells(capsys):
    print_table([{"name": "a", "n": 30}, {"name": "longer"}], ["name", "n"])

    assert capsys.readouterr().out == (
        "      name    n\n      ------  --\n      a       30\n      longer\n"
    )


def test_a_row_or_log_cannot_control_the_terminal(capsys):
    print_table([{"name": "\x1b[2Ja\n"}], ["name"])
    print_failure(StepFailedError("account", "no\x9brow", ["\x1b]0;owned\x07"]))

    assert capsys.readouterr().out == (
        "      name\n      ----------\n      \\x1b[2Ja\\n\n"
        "\naccount: no\\x9brow\n      \\x1b]0;owned\\x07\n"
    )


def test_a_failed_step_prints_failed_and_raises(capsys):
    with pytest.raises(StepFailedError), Steps().step("try"):
        raise StepFailedError("consumer account", "no row", ["mapping: Disabled"])

    assert capsys.readouterr().out.startswith("  1  try ....")


def test_a_failed_call_is_reported_with_its_step():
    refused = ClientError({"Error": {"Code": "Gone", "Message": "no such table"}}, "Scan")
    with pytest.raises(
        StepFailedError, match=r"^read the rows: An error occurred .* no such table"
    ):
        with Steps().step("read the rows"):
            raise refused


def test_a_failure_is_printed_with_its_lines(capsys):
    print_failure(StepFailedError("consumer account", "no row", ["mapping: Disabled"]))

    assert capsys.readouterr().out == "\nconsumer account: no row\n      mapping: Disabled\n"


def test_a_story_ends_with_its_time(capsys):
    with story_steps() as steps, steps.step("try"):
        pass

    assert re.search(r" s\n\nDone in \d+ s\.\n\Z", capsys.readouterr().out)


def test_a_story_whose_step_failed_prints_why_and_exits_with_1(capsys):
    with pytest.raises(SystemExit) as exited, story_steps() as steps, steps.step("try"):
        raise StepFailedError("consumer account", "no row")

    assert exited.value.code == 1
    assert capsys.readouterr().out.endswith("failed\n\nconsumer account: no row\n")
