"""An event, a list of events and an API's call are understood; all else is refused in words."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from penstock.errors import EventLimitError
from penstock.producing import Form
from penstock.producing.requests import MAX_EVENTS, read_request, split_request


def _api(body: Any, **more: Any) -> dict[str, Any]:
    return {"requestContext": {"stage": "$default"}, "body": body} | more


def _in_base64(text: str) -> dict[str, Any]:
    return _api(base64.b64encode(text.encode()).decode(), isBase64Encoded=True)


_TRACED = {"deviceId": "d-1", "t": 21.5, "requestContext": {"trace": "abc"}}
_WITHOUT_BODY = {"requestContext": {}, "rawPath": "/", "headers": {}}


@pytest.mark.parametrize(
    ("given", "form", "events", "is_api"),
    [
        ({}, Form.EVENT, ({},), False),
        ({"t": 1, "body": "x"}, Form.EVENT, ({"t": 1, "body": "x"},), False),
        ({"requestContext": 7}, Form.EVENT, ({"requestContext": 7},), False),
        (_TRACED, Form.EVENT, (_TRACED,), False),
        ([{}, 7], Form.BATCH, ({}, 7), False),
        ([], Form.BATCH, (), False),
        (_api('{"t": 1}'), Form.EVENT, ({"t": 1},), True),
        (_api("[{}, 7]", isBase64Encoded=False), Form.BATCH, ({}, 7), True),
        (_in_base64('{"t": "°"}'), Form.EVENT, ({"t": "°"},), True),
        (_in_base64("[{}]"), Form.BATCH, ({},), True),
    ],
    ids=str,
)
def test_payloads_are_read_as_events_batches_and_api_calls(
    given: Any, form: Form, events: tuple[Any, ...], is_api: bool
) -> None:
    request = read_request(given)

    assert (request.form, request.events, request.is_api) == (form, events, is_api)
    assert (request.problems, request.is_whole) == ({}, False)


_EXPECTED = (
    "expected an event (a JSON object), a list of events, the text of either, or an API's call "
    "with requestContext and body"
)


@pytest.mark.parametrize(
    ("given", "kept", "sentence"),
    [
        ("warm", "warm", "found text that is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ('"warm"', '"warm"', f"found text, {_EXPECTED}"),
        ('{"t": 1, "t": 2}', '{"t": 1, "t": 2}', "t: found the key twice in one object, expected"),
        (7, 7, f"found a number, {_EXPECTED}"),
        (0.5, 0.5, f"found a number, {_EXPECTED}"),
        (None, None, f"found null, {_EXPECTED}"),
        (True, True, f"found true, {_EXPECTED}"),
        (_api("7"), "7", f"found a number, {_EXPECTED}"),
        (_api(None), _api(None), "found null as the body of an API's call, expected JSON text"),
        (_api({"t": 1}), _api({"t": 1}), "as the body of an API's call, expected JSON text"),
        (_WITHOUT_BODY, _WITHOUT_BODY, "found null as the body of an API's call, expected JSON"),
        (_api(""), "", "found a body that is not JSON: Expecting value: line 1 column 1 (char 0)"),
        (_api("{"), "{", "found a body that is not JSON: Expecting property name"),
        (_api('{"t": NaN}'), '{"t": NaN}', "t: found NaN, expected a number"),
        (_api('{"t": 1, "t": 2}'), '{"t": 1, "t": 2}', "t: found the key twice in one object, exp"),
        (_api("[" * 100_000), "[" * 100_000, "found a body with objects and lists too deep"),
        (
            _api("9" * 5_000),
            "9" * 5_000,
            "found a whole number of 5000 digits, expected one within",
        ),
        (
            _in_base64('{"t": NaN}'),
            '{"t": NaN}',
            "t: found NaN, expected a number",
        ),
        (_api("?", isBase64Encoded=True), "?", "found a body that is not base64 of UTF-8 text, as"),
        (_api("é", isBase64Encoded=True), "é", "found a body that is not base64 of UTF-8 text, as"),
        (_api("[{}"), "[{}", "found a body that is not JSON: Expecting ',' delimiter"),
        (_api("[{}] {}"), "[{}] {}", "found a body that is not JSON: Extra data: line 1 column 6"),
        (_api("[{},]"), "[{},]", "found a body that is not JSON: Expecting value: line 1 column 5"),
        (_api("/w==", isBase64Encoded=True), "/w==", "found a body that is not base64 of UTF-8"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_any_other_payload_is_a_problem_with_a_message(
    given: Any, kept: Any, sentence: str
) -> None:
    request = read_request(given)

    assert request.problems.keys() == {0}
    assert sentence in str(request.problems[0])
    assert request.events == (kept,)
    assert (request.form, request.is_whole) == (Form.EVENT, True)


def test_an_item_of_a_list_that_cannot_be_read_is_its_text_and_stops_no_other() -> None:
    number = "9" * 5_000
    items = ['{"t": 1}', '{"t": 1, "t": 2}', '{"t": NaN}', f'{{"t": {number}}}', '{"t": [2.5]}']

    request = read_request(_api(f" [ {' , '.join(items)}\n] "))

    assert request.form is Form.BATCH
    assert request.events == ({"t": 1}, *items[1:4], {"t": [2.5]})
    assert [(i, str(error)[:45]) for i, error in request.problems.items()] == [
        (1, "t: found the key twice in one object, expecte"),
        (2, "t: found NaN, expected a number"),
        (3, "t: found a whole number of 5000 digits, expec"),
    ]


@pytest.mark.parametrize("events", [[{}] * MAX_EVENTS, [{}] * (MAX_EVENTS + 1)])
@pytest.mark.parametrize("is_api", [True, False])
def test_a_list_of_too_many_events_is_one_problem_and_kept_whole(
    events: list[Any], is_api: bool
) -> None:
    given = _api(json.dumps(events)) if is_api else events

    request = read_request(given)

    if len(events) == MAX_EVENTS:
        assert (len(request.events), request.problems) == (MAX_EVENTS, {})
    else:
        assert request.events == (given["body"] if is_api else given,)
        assert isinstance(request.problems[0], EventLimitError)
        assert str(request.problems[0]) == (
            "found more than 10,000 events in one request, expected at most that"
        )


@pytest.mark.parametrize(
    ("kept", "events"),
    [
        ([{"t": 1}, 7], [{"t": 1}, 7]),
        (' [{"t": 1} , {"t": NaN}]\n', [{"t": 1}, '{"t": NaN}']),
        (json.dumps([{}] * (MAX_EVENTS + 1)), [{}] * (MAX_EVENTS + 1)),
        ("[]", []),
        ('{"t": NaN}', ['{"t": NaN}']),
        ("[{}", ["[{}"]),
        ("[" * 100_000, ["[" * 100_000]),
        ("warm", ["warm"]),
        (7, [7]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_request_that_was_kept_whole_is_split_into_its_events(
    kept: Any, events: list[Any]
) -> None:
    assert split_request(kept) == events
