"""A command that changes something is shown, confirmed and logged; else none is run."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from penstock.errors import OperationError
from penstock.extensions.console.audit import AuditLog
from penstock.extensions.console.guard import Door
from penstock.extensions.console.pages import ACTIONS
from tests.unit.extensions.console.conftest import PrintedCommands

_SEND = "/do/produce"
_EVENTS = {"events": '{"temperature": 30}'}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "state" / "log.jsonl"


@pytest.fixture
def writer(open_console, log: Path) -> TestClient:
    browser: TestClient = open_console(AuditLog(log))
    return browser


def test_it_is_shown_asked_run_and_logged(
    writer: TestClient, commands: PrintedCommands, door: Door, log: Path
) -> None:
    before = len(commands.ran)
    form = {"form": door.form, **_EVENTS}

    assert "Run it" not in writer.get(_SEND).text
    asked = writer.post(_SEND, data={**form, "step": "ask"})
    assert "Run it" in asked.text
    assert "penstock --profile meters produce -" in asked.text
    assert len(commands.ran) == before
    assert not log.exists()

    commands.code = 1
    writer.post(_SEND, data={**form, "step": "run"})

    command = "penstock --profile meters produce -"
    assert commands.ran[before:] == [(command, _EVENTS["events"], "ssh meters")]
    began, ended = map(json.loads, log.read_text().splitlines())
    assert (began["command"], began["stdin"]) == (command, _EVENTS["events"])
    assert (ended["command"], ended["code"]) == (command, 1)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_command_that_changes_something_is_not_stopped(
    writer: TestClient, commands: PrintedCommands, door: Door
) -> None:
    commands.answers = {"produce": [{"number": each} for each in range(1_500)]}

    answer = writer.post(_SEND, data={"form": door.form, **_EVENTS, "step": "run"})

    run, seconds = commands.runs[-1]
    assert (run.is_read, seconds) == (True, None)
    assert "Only the first 1,000 are shown." in answer.text

    writer.post(_SEND, data={"form": door.form, **_EVENTS, "step": "rehearse"})
    run, seconds = commands.runs[-1]
    assert (run.is_read, seconds) == (False, 60)


def test_a_rehearsal_changes_nothing(
    browser: TestClient, commands: PrintedCommands, door: Door
) -> None:
    answer = browser.post(_SEND, data={"form": door.form, **_EVENTS, "step": "rehearse"})

    assert answer.status_code == 200
    assert commands.ran[-1][0] == "penstock --profile meters produce --dry-run -"


@pytest.mark.parametrize("action", ACTIONS, ids=lambda each: each.name)
def test_a_console_that_reads_runs_no_action(
    action, browser: TestClient, commands: PrintedCommands, door: Door
) -> None:
    before = len(commands.ran)
    values = {each.name: "x" for each in action.command.fields}

    page = browser.get(f"/do/{action.name}", params=values).text
    answer = browser.post(f"/do/{action.name}", data={"form": door.form, **values, "step": "run"})

    assert "only reads" in page
    assert 'value="ask"' not in page
    assert answer.status_code == 403
    assert commands.ran[before:] == []


def test_a_form_of_another_site_is_refused(
    writer: TestClient, commands: PrintedCommands, door: Door
) -> None:
    before = len(commands.ran)
    for form in ("", "x", door.session):
        answer = writer.post(_SEND, data={"form": form, **_EVENTS, "step": "run"})
        assert answer.status_code == 403
    assert commands.ran[before:] == []
    assert writer.get(_SEND, params={**_EVENTS, "step": "run"}).status_code == 200
    assert commands.ran[before:] == []


def test_without_a_log_nothing_runs(open_console, commands, door: Door, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in the place of the folder")
    browser = open_console(AuditLog(tmp_path / "state" / "log"))
    before = len(commands.ran)

    with pytest.raises(OperationError, match="the audit log "):
        browser.post(_SEND, data={"form": door.form, **_EVENTS, "step": "run"})

    assert commands.ran[before:] == []
