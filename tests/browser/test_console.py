"""The story of changing schemas in a browser, and pages that everybody can read."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from localcloud.testing import wait_until
from penstock.extensions.console import model
from penstock.extensions.console.pages import ACTIONS, PAGES
from tests.browser.calls import Calls, find_writes
from tests.browser.conftest import Served

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

_EVENTS = ["{}", '{"temperature": 30}', "{}"]
_PICTURES = Path(__file__).parents[2] / "docs" / "console"


@pytest.fixture(scope="module")
def served(serve) -> Iterator[Served]:
    with serve("--allow-changes") as found:
        yield found


@pytest.fixture(scope="module")
def cookies() -> list:
    """Those of the one browser that the token lets in."""
    return []


@pytest.fixture
def page(served: Served, cookies: list, open_page: Callable[..., Page]) -> Page:
    return _enter(open_page(), served, cookies)


def _enter(page: Page, served: Served, cookies: list) -> Page:
    if cookies:
        page.context.add_cookies(cookies)
        page.goto(served.address.partition("?")[0])
    else:
        page.goto(served.address)
        cookies.extend(page.context.cookies())
    return page


def test_a_new_field_is_a_new_version_and_each_event_is_a_row(
    page: Page, served: Served, calls: Calls, table: str, consume: Callable[[], Any]
) -> None:
    for event in _EVENTS:
        page.get_by_role("link", name="Send events").click()
        page.get_by_label("Events").fill(event)
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_text("penstock --profile meters produce -")).to_be_visible()
        page.get_by_role("button", name="Run it").click()
        expect(page.get_by_role("heading", name="What it did")).to_be_visible()

    page.get_by_role("link", name="Schemas").click()
    page.get_by_role("link", name="sensor", exact=True).click()
    _picture(page, "versions")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("cell", name="temperature")).to_be_visible()
    _picture(page, "compare")

    page.get_by_role("link", name="Topics").click()
    page.get_by_role("link", name=served.topic).click()
    rows = page.locator("#records tr")
    expect(rows).to_have_count(3)
    assert [row.get_by_text("sensor v").inner_text() for row in rows.all()] == [
        *("sensor v1", "sensor v2", "sensor v1"),
    ]
    _picture(page, "records")

    assert consume().written == len(_EVENTS)
    page.get_by_role("link", name="Rows", exact=True).click()
    page.get_by_label("Table").fill(table)
    page.get_by_role("button", name="Show").click()
    stored = page.locator("#rows > tr")
    expect(stored).to_have_count(len(_EVENTS))
    assert sum("temperature" in row.inner_text() for row in stored.all()) == 1
    page.get_by_role("link", name=f"{served.topic}/0/1").click()
    steps = page.get_by_role("region", name="Steps").locator("tbody > tr")
    expect(steps.filter(has_text=f"{table}, ")).to_contain_text("found")
    names = [step.locator("th").inner_text() for step in steps.all()]
    assert names[:5] == ["event", "record", "frame", "schema", "row"]
    _picture(page, "trace")
    commands = [json.loads(line)["command"] for line in served.audit.read_text().splitlines()]
    assert commands.count("penstock --profile meters produce -") == 2 * len(_EVENTS)
    assert find_writes(calls.read()) >= {"glue:CreateSchema", "kafka:ProduceRequest"}


def test_new_records_appear_while_they_are_followed(page: Page, served: Served) -> None:
    address = served.address.partition("?")[0]
    page.goto(f"{address}records?topic={served.topic}&from=end")
    page.get_by_role("button", name="Follow new records").click()
    expect(page.get_by_text("Waiting for new records.")).to_be_visible()
    other = page.context.new_page()
    other.goto(f"{address}do/produce")
    rows = page.locator("#records tr")

    for _ in range(30):  # a follower sees what comes after it has found its place
        other.get_by_label("Events").fill('{"note": "</script><b>bold</b>"}')
        other.get_by_role("button", name="Continue").click()
        other.get_by_role("button", name="Run it").click()
        expect(other.get_by_role("heading", name="What it did")).to_be_visible()
        if rows.count():
            break

    assert rows.count() >= 1
    assert "</script><b>bold</b>" in rows.first.inner_text()
    assert page.locator("#records b").count() == 0


def test_every_page_only_reads_and_can_be_read_by_everybody(
    page: Page, served: Served, calls: Calls, trials: Callable[[int, int], int]
) -> None:
    address = served.address.partition("?")[0]
    forms = [("light", 360), ("dark", 1280)]  # one of them for each page, both in a nightly run
    paths = ["", *map(_path, PAGES), *(f"do/{each.name}" for each in ACTIONS)]
    paths += [f"records?topic={served.topic}", "compare?schema=sensor&before=1&after=2"]
    paths += [f"trace?profile=analytics&id={served.topic}/0/0"]
    faults: dict[str, Any] = {}
    calls.kafka.unlink(missing_ok=True)
    calls.aws.write_text("")

    for at, path in enumerate(paths):
        answer = page.goto(f"{address}{path}")
        assert answer is not None
        assert answer.status == 200, path
        expect(page.locator("[aria-busy]")).to_have_count(0)
        for turn in range(trials(1, 2)):
            faults |= _find_faults(page, path, *forms[(at + turn) % 2])

    assert faults == {}
    found = calls.read()
    assert find_writes(found) == set()
    assert {each.partition(":")[0] for each in found} >= {"dynamodb", "glue", "kafka", "s3"}


def _path(page: model.Page) -> str:
    """Return the address of a page, with values of its form."""
    samples = {"id": "x", "schema": "sensor", "table": "lake.readings", "text": "{}"}
    values = {
        each.name: each.default or samples.get(each.name, "")
        for each in page.command.fields
        if each.is_required
    }
    return f"{page.name}?{urlencode(values)}" if all(values.values()) else page.name


def _find_faults(page: Page, path: str, scheme: str, width: int) -> dict[str, Any]:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 800})
    found = [
        (each["id"], each["nodes"][0]["html"]) for each in Axe().run(page).response["violations"]
    ]
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if overflow > 0:
        found.append(("overflow", f"{overflow} px wider than the window"))
    return {f"{path}, {scheme}, {width} px": found} if found else {}


def test_the_keyboard_is_enough(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Schemas":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Schemas")).to_be_visible()


def test_a_follower_ends_with_a_console_that_is_killed(serve: Callable[..., Any]) -> None:
    with serve() as served:
        browser = build_opener(HTTPCookieProcessor(CookieJar()))
        browser.open(served.address)
        address = served.address.partition("?")[0]
        with browser.open(f"{address}live?topic={served.topic}"):
            wait_until("it follows", lambda: len(_find_followers(served)) > 0, 120)
            served.process.send_signal(signal.SIGKILL)
            wait_until("no follower is left", lambda: not _find_followers(served), 60)


def _find_followers(served: Served) -> list[Path]:
    """Return the processes that follow the topic of a console, without the shells around them."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if b"--follow" in words and served.topic.encode() in words:
            found.append(each)
    return found


def _picture(page: Page, name: str) -> None:
    """Write the pictures of the documentation, in both schemes, with REWRITE=1."""
    if os.environ.get("REWRITE") != "1":
        return
    _PICTURES.mkdir(exist_ok=True)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=_PICTURES / f"{name}-{scheme}.png")
    page.emulate_media(color_scheme="light")
