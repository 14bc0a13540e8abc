"""Only the browser that was let in gets an answer, and no page of another site."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from penstock.extensions.console.guard import Door
from tests.unit.extensions.console.conftest import HOST, PrintedCommands


def test_the_token_lets_one_browser_in(browser: TestClient, door: Door) -> None:
    assert browser.get("/cost").status_code == 200

    other = TestClient(browser.app, base_url=f"http://{HOST}")
    assert other.get("/cost").status_code == 403
    assert "valid once" in other.get("/cost").text
    assert door.token == ""
    assert other.get("/", params={"token": "x"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost:8123"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "same-site"},  # another port: its pages have the cookie too
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_site_is_refused(
    browser: TestClient, commands: PrintedCommands, headers: dict[str, str]
) -> None:
    assert browser.get("/cost", headers=headers).status_code == 403
    assert commands.ran == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(browser: TestClient, method: str) -> None:
    assert browser.request(method, "/cost").status_code == 403


@pytest.mark.parametrize("path", ["/", "/cost", "/static/console.css", "/nowhere", "/live"])
def test_every_answer_forbids_what_is_not_from_here(browser: TestClient, path: str) -> None:
    headers = browser.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_this_console_and_its_user_are_answered(browser: TestClient, site: str) -> None:
    assert browser.get("/cost", headers={"Sec-Fetch-Site": site}).status_code == 200


def test_the_overview_may_be_opened_by_a_link_of_a_terminal_in_a_page(
    browser: TestClient, commands: PrintedCommands
) -> None:
    assert browser.get("/", headers={"Sec-Fetch-Site": "same-site"}).status_code == 200
    assert commands.ran == []


def test_consoles_at_two_ports_have_cookies_of_their_own() -> None:
    assert Door("127.0.0.1:8123").cookie != Door("127.0.0.1:8124").cookie


def test_the_cookie_stays_here(open_console, door: Door) -> None:
    token = door.token
    browser = open_console()
    door.token = token

    cookie = browser.get("/", params={"token": token}, follow_redirects=False).headers["set-cookie"]

    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
    assert door.session not in repr(door)
