"""`penstock rejected replay` sends the events of a request that was kept whole."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import pytest

from penstock.errors import SinkUnavailableError
from penstock.producing import RejectedEvent, RejectedEvents
from penstock.producing.requests import MAX_EVENTS
from tests.fixtures.rejected import bucket, keys_of
from tests.unit.cli.test_rejected import Run, _function, _keep, run

__all__ = ["bucket", "run"]

_ARRIVED_MS = 1_795_234_015_788
_MANY = MAX_EVENTS + 1
_REQUEST = RejectedEvent(
    event=[{"n": n} for n in range(_MANY)],
    base={"deviceId": "000001", "timestamp": _ARRIVED_MS},
    timestamp=_ARRIVED_MS,
    reason="EventLimitError",
    detail="found more than 10,000 events in one request, expected at most that",
    rule="",
    diff=(),
    function="penstock-producer",
    request_id="r-1",
    index=0,
    is_request=True,
)
_RECORD = "{'topic': 't', 'partition': 0, 'offset': each['n']}"
_KEPT = "{'error': {'reason': 'R', 'message': 'm', 'kept': str(each['n'])}}"


@pytest.mark.parametrize("is_text", [False, True], ids=["a list", "the text of a body"])
def test_a_request_that_was_kept_whole_is_written_event_by_event(
    run: Run, client: Callable[..., Any], bucket: str, is_text: bool
) -> None:
    # The function fails for a wrong time, so that all are right.
    source = f"""assert len(event) <= 500
    assert all(each['timestamp'] == {_ARRIVED_MS} + each['n'] for each in event), event[0]
    assert all(each['deviceId'] == '000001' for each in event)
    return [{_RECORD} for each in event]"""
    event = json.dumps(_REQUEST.event) if is_text else _REQUEST.event
    request = dataclasses.replace(_REQUEST, event=event, function=_function(client, source))
    (key,) = _keep(bucket, request)

    code, out = run("replay", key)

    assert out == (
        f"{key} is a request: 10,001 of its events are written, "
        "0 are rejected and kept one by one\n"
        "10001 written, 0 stay\n"
    )
    assert (code, keys_of(client, bucket)) == (0, [])


def test_a_call_of_an_api_without_a_body_stays(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    call = {
        "requestContext": {},
        "httpMethod": "GET",
        "headers": {"cookie": "secret"},
        "body": None,
    }
    function = _function(client, "return [{'topic': 't', 'partition': 0, 'offset': 0}]")
    (key,) = _keep(bucket, dataclasses.replace(_REQUEST, event=call, function=function))

    code, out = run("replay", key)

    assert out == (
        f"{key} stays: found the call of an API without a body, expected events; delete it by "
        "hand\n0 written, 1 stay\n"
    )
    assert (code, keys_of(client, bucket)) == (1, [key])


def test_events_of_a_request_that_are_rejected_are_kept_alone(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    source = f"return [{_KEPT} if each['n'] == 5 else {_RECORD} for each in event]"
    (key,) = _keep(bucket, dataclasses.replace(_REQUEST, function=_function(client, source)))

    code, out = run("replay", key)

    assert "10,000 of its events are written, 1 are rejected and kept one by one\n" in out
    assert out.endswith("10000 written, 1 stay\n")
    assert (code, keys_of(client, bucket)) == (1, [])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("return []", "found [] as the answer of "),
        ("return [{}] * len(event)", "found {} as the outcome of an event"),
    ],
)
def test_a_request_that_fails_on_its_way_keeps_what_is_left(
    run: Run, client: Callable[..., Any], bucket: str, answer: str, said: str
) -> None:
    source = f"if event[0]['n'] >= 9000: {answer}\n    return [{_RECORD} for each in event]"
    (key,) = _keep(bucket, dataclasses.replace(_REQUEST, function=_function(client, source)))

    code, out = run("replay", key)

    assert f"{key} stays: 1,001 of 10,001 events are left: {said}" in out
    assert out.endswith("9000 written, 1 stay\n")
    assert (code, keys_of(client, bucket)) == (1, [key])
    left = RejectedEvents(bucket).read(key)
    first = {"n": 9_000, "deviceId": "000001", "timestamp": _ARRIVED_MS + 9_000}
    assert (left.is_request, len(left.event), left.event[0]) == (True, 1_001, first)

    function = _function(client, f"return [{_RECORD} for each in event]")
    assert run("replay", key, "--function", function)[0] == 0
    assert keys_of(client, bucket) == []


@pytest.mark.parametrize(("presses", "left"), [(1, 8_501), (2, 9_001)])
def test_a_replay_that_is_interrupted_leaves_what_it_has_not_sent(
    run: Run, client: Callable[..., Any], bucket: str, presses: int, left: int
) -> None:
    keys = ["moved/r-1.json", "moved/r-2.json"]
    for key in keys:
        client("s3").put_object(Bucket=bucket, Key=key, Body=_REQUEST.write())
    handler, calls = signal.getsignal(signal.SIGINT), 0

    def invoke(_client: Any, _function: str, events: Sequence[Any]) -> list[Any]:
        nonlocal calls
        calls += 1
        for _ in range(presses if calls == 3 else 0):
            os.kill(os.getpid(), signal.SIGINT)
        return [{"topic": "t", "partition": 0, "offset": each["n"]} for each in events]

    with patch("penstock.operations.rejected._invoke", invoke):
        code, out = run("replay", "moved/", "--function", "another")

    assert (code, keys_of(client, bucket), calls) == (130, keys, 3)
    assert signal.getsignal(signal.SIGINT) is handler
    said = f"{keys[0]} stays: 8,501 of 10,001 events are left: the replay was interrupted\n"
    assert out == ("" if presses == 2 else f"{said}1500 written, 1 stay\n")
    first, second = map(RejectedEvents(bucket).read, keys)
    assert [each["n"] for each in first.event] == [*range(_MANY - left, _MANY)]
    assert len(second.event) == _MANY


def test_an_event_under_way_at_an_interrupt_is_deleted_and_the_next_is_not_sent(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    alone = dataclasses.replace(_REQUEST, event={"n": 0}, is_request=False)
    keys = _keep(bucket, alone, dataclasses.replace(alone, request_id="r-2"))

    def invoke(*_: object) -> list[Any]:
        os.kill(os.getpid(), signal.SIGINT)
        return [{"topic": "t", "partition": 0, "offset": 7}]

    with patch("penstock.operations.rejected._invoke", invoke):
        code, out = run("replay", *keys)

    assert out == f"{keys[0]} is written as t/0/7\n1 written, 0 stay\n"
    assert (code, keys_of(client, bucket)) == (130, keys[1:])


def test_a_request_that_cannot_be_written_back_is_an_error_with_what_is_written(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    source = f"return [{_KEPT} if each['n'] == 5 else {_RECORD} for each in event]"
    (key,) = _keep(bucket, dataclasses.replace(_REQUEST, function=_function(client, source)))
    down = SinkUnavailableError("the bucket is down")

    with patch.object(RejectedEvents, "rewrite", side_effect=[None, down]):
        code, out = run("replay", key)

    assert code == 1
    assert out == (
        "penstock: the bucket is down; 999 of 10,001 events are written, the last 500 of which a "
        "replay writes again\n"
    )


def test_a_request_is_sent_in_calls_that_lambda_takes(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    large = [{"n": n, "x": "x" * 1_500_000} for n in range(3)]
    source = f"assert len(event) <= 2\n    return [{_RECORD} for each in event]"
    request = dataclasses.replace(_REQUEST, event=large, function=_function(client, source))
    (key,) = _keep(bucket, request)

    assert run("replay", key)[0] == 0


def test_an_event_that_is_too_large_for_lambda_stays_and_stops_no_other(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    large = {"n": 0, "x": "\n" * 2_200_000}  # a line break is three bytes of a text in a text
    function = _function(client, f"return [{_RECORD} for each in event]")
    request = dataclasses.replace(_REQUEST, event=[large, {"n": 1}, {"n": 2}], function=function)
    alone = dataclasses.replace(request, event=large, request_id="r-2", is_request=False)
    keys = _keep(bucket, request, alone)

    for events, written in ((3, 2), (1, 0)):
        code, out = run("replay", f"{function}/")

        first, second, summary = out.splitlines()
        said = " bytes as text, and Lambda takes fewer than 6,291,456: write all that are left"
        assert first.startswith(f"{keys[0]} stays: 1 of {events} events are left: found an event o")
        assert second.startswith(f"{keys[1]} stays: found an event of 6,600,")
        assert said in first
        assert said in second
        assert summary == f"{written} written, 2 stay"
        assert (code, keys_of(client, bucket)) == (1, keys)
        left = RejectedEvents(bucket).read(keys[0])
        assert (left.is_request, [each["n"] for each in left.event]) == (True, [0])


def test_text_is_sent_in_its_own_bytes(run: Run, client: Callable[..., Any], bucket: str) -> None:
    text = "\ud83d" + "\u0436" * 2_000_000  # half of a character, which UTF-8 does not have
    source = f"""assert event[0]['x'] == {text[:2]!a} + {text[1]!a} * 1_999_999, event[0]['x'][:9]
    return [{_RECORD} for each in event]"""
    request = dataclasses.replace(
        _REQUEST, event=[{"n": 0, "x": text}], function=_function(client, source)
    )
    (key,) = _keep(bucket, request)

    assert run("replay", key)[1].endswith("\n1 written, 0 stay\n")


def test_the_text_of_a_body_that_is_no_json_stays(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    refusal = {"reason": "EventTextError", "message": "found text", "kept": "copy"}
    function = _function(client, f"assert event == ['warm']\n    return [{{'error': {refusal!r}}}]")
    (key,) = _keep(bucket, dataclasses.replace(_REQUEST, event="warm", function=function))
    client("s3").put_object(Bucket=bucket, Key="copy", Body=b"{}")

    code, out = run("replay", key)

    assert out == f"{key} stays: EventTextError: found text\n0 written, 1 stay\n"
    assert (code, keys_of(client, bucket)) == (1, [key])
