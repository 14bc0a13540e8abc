"""Each page shows what its command prints, as text, and runs nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from penstock.cli.command import _build_parser
from penstock.extensions.console.guard import Door
from penstock.extensions.console.model import Command, Page
from penstock.extensions.console.pages import ACTIONS, COMPARE, FOLLOW, PAGES, PARTS, PICTURE
from tests.fixtures.commands import documented
from tests.unit.extensions.console.conftest import PrintedCommands

_HOSTILE = "<script>alert(1)</script>\x1b[31m\u202eabc</td>&\"'"
_SHOWN = "<script>alert(1)</script>\\x1b[31m\\u202eabc</td>&\"'"
# Each other command, and why it has no page.
_WITHOUT = {
    "access apply": "changes access lists, by a file",
    "access plan": "compares a file",
    "certificate": "writes a secret",
    "cdc count": "compares a database, which has a login of its own",
    "console": "is the console",
    "contract": "writes files",
    "init": "writes penstock.toml",
    "mcp": "serves agents",
    "registry copy": "changes a registry",
    "schema apply": "changes a registry, by files",
    "schema export": "writes files",
    "schema import": "changes a registry, by files",
    "schema plan": "looks at files",
    "schema register": "changes a registry, by a file",
    "schema sync": "changes tables",
    "submit": "starts any job",
}
_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"/>'
_ALL = [
    *(page.command for page in PAGES),
    *(action.command for action in ACTIONS),
    *(action.rehearsal for action in ACTIONS if action.rehearsal),
    COMPARE,
    FOLLOW,
    PICTURE,
]


def _values(command: Command) -> dict[str, str]:
    samples = {"before": "1", "after": "2", "partition": "0", "count": "9", "version": "1"}
    samples |= {"table": "lake.readings", "id": "sensor/0/41/5"}
    return {each.name: each.default or samples.get(each.name, "x") for each in command.fields}


@pytest.mark.parametrize("command", _ALL, ids=lambda each: " ".join(each.words))
def test_a_command_takes_its_fields(command: Command) -> None:
    values = _values(command)
    for optional in ("reason", "since", "until", "schema", "where"):
        if not any(each.is_required for each in command.fields if each.name == optional):
            values.pop(optional, None)
    words = command.build({each.name: "" for each in command.fields} | values)
    environ = {
        "PENSTOCK_REGISTRY": "glue://x?region=eu-central-1",
        "PENSTOCK_ERRORS_TABLE": "errors",
        "PENSTOCK_PARKED_BUCKET": "parked",
        "PENSTOCK_REJECTED_BUCKET": "rejected",
        "PENSTOCK_WORKGROUP": "lake",
        "PENSTOCK_CONSUMER_ROOT": "infra/consumer",
    }

    assert _build_parser(environ).parse_args(words).run


def test_a_value_is_never_a_flag() -> None:
    values = {"topic": "--bootstrap-servers=evil:9092", "where": "--x"}

    assert FOLLOW.build(values) == [
        *("read", "--follow", "--end-with-stdin", "--from=end", "--where=--x"),
        *("--", "--bootstrap-servers=evil:9092"),
    ]


def test_every_command_has_a_page_or_a_reason_why_not() -> None:
    shown = {" ".join(word for word in each.words if not word.startswith("-")) for each in _ALL}

    assert shown | _WITHOUT.keys() == {each.partition(" --")[0] for each in documented()}
    assert not shown & _WITHOUT.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda each: each.name)
def test_a_page_has_every_value_that_the_command_prints(
    page: Page, browser: TestClient, commands: PrintedCommands
) -> None:
    words = " ".join(page.command.words)
    printed = documented()[words]
    commands.answers = {words: printed}

    answer = browser.get(f"/{page.name}", params=_values(page.command))

    assert answer.status_code == 200
    text = _text(answer.text)
    missing = [each for each in _scalars(printed) if each not in text]
    assert missing == [], text
    assert commands.ran[-1][0] in text


@pytest.mark.parametrize("page", PAGES, ids=lambda each: each.name)
def test_hostile_values_are_text(
    page: Page, browser: TestClient, commands: PrintedCommands
) -> None:
    words = " ".join(page.command.words)
    commands.answers = {words: [_poison(each) for each in documented()[words]]}
    commands.error = _HOSTILE

    answer = browser.get(f"/{page.name}", params=_values(page.command) | {"profile": ""})

    assert "<script>alert" not in answer.text
    assert "\x1b" not in answer.text
    assert "\u202e" not in answer.text
    assert _SHOWN in _text(answer.text)
    assert len(re.findall("<tr", answer.text)) == len(re.findall("</tr>", answer.text))


def test_the_overview_sums_up_both_accounts(browser: TestClient, commands: PrintedCommands) -> None:
    commands.answers = dict(documented())
    assert commands.ran == []  # its parts are loaded after it

    loaded = re.findall('data-load="([^"]*)"', browser.get("/").text)
    texts = [_text(browser.get(html.unescape(each)).text).split() for each in loaded]
    parts = dict(zip(loaded, map(" ".join, texts), strict=True))

    assert set(parts) == {
        *(f"/part/{each}?profile=meters" for each in ("status", "doctor")),
        *(
            f"/part/{each}?profile={profile}"
            for profile in ("analytics", "billing")
            for each in ("status", "doctor", "lag")
        ),
    }
    status, doctor, lag = list(parts.values())[-3:]
    assert "Dead letters in penstock-analytics-errors: 3" in status
    assert "1 broken" in doctor
    assert "listener-missing (b-1), producer, listeners: its load balancer listens" in doctor
    assert "32 records wait in 2 partitions, of which 1 have no committed offset" in lag
    assert browser.get("/part/lag?profile=meters").status_code == 404


def test_a_picture_is_an_image_or_says_why_not(
    browser: TestClient, commands: PrintedCommands
) -> None:
    commands.answers = {"lineage --output=svg": [_PICTURE]}

    answer = browser.get("/lineage.svg", params={"profile": "analytics", "what": "sensor"})

    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.text == _PICTURE
    assert commands.ran[-1][0] == "penstock --profile analytics lineage --output=svg -- sensor"
    assert browser.get("/lineage", params={"profile": "meters"}).status_code == 404
    commands.answers, commands.error = {}, "penstock: no such topic"
    refused = browser.get("/lineage.svg")
    assert refused.status_code == 404
    assert "no such topic" in refused.text


def test_a_text_is_sent_by_a_form_of_this_run_and_read_from_stdin(
    browser: TestClient, commands: PrintedCommands, door: Door
) -> None:
    commands.answers = {"schema check": documented()["schema check"]}
    values = {"schema": "sensor", "text": '{"type": "record"}'}

    answer = browser.post("/candidate", data={"form": door.form, **values})

    assert "BACKWARD: flow: has no default" in answer.text
    command, given, _ = commands.ran[-1]
    assert command == "penstock --profile meters schema check -- sensor /dev/stdin"
    assert given == values["text"]
    assert browser.post("/candidate", data={"form": "x", **values}).status_code == 403
    assert len(commands.ran) == 1


def test_two_versions_are_compared(browser: TestClient, commands: PrintedCommands) -> None:
    examples = documented()
    commands.answers = {
        each: examples[each] for each in ("schema diff", "schema show", "schema versions")
    }

    answer = browser.get("/compare", params={"schema": "sensor", "before": "1", "after": "2"})

    text = _text(answer.text)
    assert "flow" in text
    assert "long (optional)" in text
    assert [each[0] for each in commands.ran[-3:]] == [
        "penstock --profile meters schema diff -- sensor 1 2",
        "penstock --profile meters schema show --version=1 -- sensor",
        "penstock --profile meters schema show --version=2 -- sensor",
    ]
    assert browser.get("/compare", params={"schema": "sensor"}).status_code == 400


def test_a_long_text_is_cut_and_many_objects_too(
    browser: TestClient, commands: PrintedCommands
) -> None:
    (record,) = documented()["read"][:1]
    commands.answers = {"read": [record | {"value": "x" * 10_000}] * 1_001}
    answer = browser.get("/records", params={"topic": "sensor"})
    assert "and 8,000 characters more" in answer.text
    assert "Only the first 1,000 are shown." in answer.text
    assert len(answer.text) < 5_000_000

    commands.answers = {"read": [record | {"value": "x" * 1_000_000}] * 1_001}
    assert "Only the first 16 are shown." in browser.get("/records?topic=sensor").text


def test_what_asks_brokers_runs_on_the_host(browser: TestClient, commands: PrintedCommands) -> None:
    browser.get("/topics", params={"profile": "meters"})
    assert commands.ran[-1] == ("penstock --profile meters topics", "", "ssh meters")
    browser.get("/schemas", params={"profile": "meters"})
    assert commands.ran[-1] == ("penstock --profile meters schema list", "", "")


def test_a_consumers_registry_is_asked_from_its_host(
    browser: TestClient, commands: PrintedCommands
) -> None:
    """The registry trusts the host's role, and others are reached from its VPC only."""
    browser.get("/schemas", params={"profile": "billing"})
    assert commands.ran[-1] == ("penstock --profile billing schema list", "", "ssh billing")
    versions = {"profile": "billing", "schema": "sensor", "before": "1", "after": "2"}
    browser.get("/compare", params=versions)
    assert {host for _, _, host in commands.ran[-3:]} == {"ssh billing"}


def test_objects_of_a_list_may_lack_members(browser: TestClient, commands: PrintedCommands) -> None:
    (row,) = documented()["rows"][:1]
    value = {"samples": [{"at": 1, "value": 0.5}, {"at": 2}]}
    commands.answers = {"rows": [row | {"value": value}]}

    answer = browser.get("/rows", params={"table": "readings"})

    assert answer.status_code == 200
    assert "At Value 1 0.5 2" in " ".join(_text(answer.text).split())


def test_new_records_are_sent_as_rows(browser: TestClient, commands: PrintedCommands) -> None:
    (record,) = documented()["read"][:1]
    commands.answers = {"read": [record | {"value": _HOSTILE}]}

    answer = browser.get("/live", params={"topic": "sensor", "profile": "meters"})

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "&lt;script&gt;alert(1)" in answer.text
    assert "event: end" in answer.text
    assert browser.get("/live").status_code == 400


def test_a_trace_without_an_event_runs_nothing(
    browser: TestClient, commands: PrintedCommands
) -> None:
    before = len(commands.ran)

    assert browser.get("/trace", params={"profile": "analytics"}).status_code == 200
    assert commands.ran[before:] == []
    browser.get("/trace", params={"profile": "analytics", "topic": "t", "key": "--k"})
    assert commands.ran[-1] == ("penstock --profile analytics trace --topic=t --key=--k", "", "")


def test_what_was_given_up_has_a_button_that_retries_it_alone(
    browser: TestClient, commands: PrintedCommands
) -> None:
    commands.answers = {"trace": documented()["trace"]}

    page = browser.get("/trace", params={"profile": "analytics", "id": "sensor/0/41"}).text
    data = re.findall('href="(/(?:records|version|rows|dead-letter)[?][^"]*)"', page)
    assert {each.partition("?")[0] for each in data} > {"/rows", "/dead-letter"}
    assert all("profile=analytics" in each for each in data)

    forms = re.findall(
        r'action="/do/([a-z-]+)">.*?name="(?:id|prefix)" value="([^"]*)"', page, re.S
    )
    assert forms == [
        ("replay-letters", "sensor/0/41/1795234015788/spark"),
        ("replay-rejected", "meters/2026/11/21/8f-0.json"),
    ]
    action, letter = forms[0]
    shown = browser.get(f"/do/{action}", params={"profile": "analytics", "id": letter}).text
    assert f"penstock --profile analytics errors replay --id={letter}" in shown


def test_what_another_job_gave_up_is_retried_by_that_job(
    browser: TestClient, commands: PrintedCommands
) -> None:
    (traced,) = deepcopy(documented()["trace"])
    (letter,) = [each for each in traced["steps"] if each["step"] == "dead letter"]
    letter["command"] += " --job=shop"
    commands.answers = {"trace": [traced]}

    page = browser.get("/trace", params={"profile": "analytics", "id": "sensor/0/41"}).text
    assert '<input type="hidden" name="job" value="shop">' in page
    given = {"profile": "analytics", "id": "1", "job": "shop"}
    shown = browser.get("/do/replay-letters", params=given).text
    assert "penstock --profile analytics errors replay --id=1 --job=shop" in shown


def test_every_link_leads_to_a_page(browser: TestClient, commands: PrintedCommands) -> None:
    commands.answers = {"lineage --output=svg": [_PICTURE], **documented()}
    paths = ["/", "/compare?schema=sensor&before=1&after=2"]
    paths += [f"/part/{part.page}" for part in PARTS]
    paths += [f"/{page.name}?{urlencode(_values(page.command))}" for page in PAGES]
    paths += [f"/do/{action.name}" for action in ACTIONS]

    shown = "".join(browser.get(path).text for path in paths)
    links = {html.unescape(each) for each in re.findall('(?:href|src)="([^"]*)"', shown)}

    assert len(links) > 30
    assert {each for each in links if browser.get(each).status_code != 200} == set()


@pytest.mark.parametrize("path", ["/topics?profile=nobody", "/access?profile=analytics", "/none"])
def test_what_is_not_there_is_said(browser: TestClient, path: str) -> None:
    assert browser.get(path).status_code == 404


def _text(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", " ", page))


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _scalars(each)
    elif isinstance(value, list):
        for each in value:
            yield from _scalars(each)
    elif isinstance(value, str):
        yield value
    elif not isinstance(value, bool) and value is not None:
        yield str(value)


def _poison(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _poison(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_poison(each) for each in value]
    return _HOSTILE if isinstance(value, str) else value
