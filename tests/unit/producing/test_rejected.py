"""An event that is not written is kept whole, in a place of its own."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError
from botocore.session import Session

from penstock.errors import SinkAccessDeniedError, SinkUnavailableError
from penstock.producing import RejectedEvent, RejectedEvents
from tests.fixtures.rejected import bucket, keys_of

__all__ = ["bucket"]

_EVENT = RejectedEvent(
    event={"temperature": "warm", "größe": [1, None]},
    base={"deviceId": "000001", "timestamp": 1_795_234_015_788},
    timestamp=1_795_234_015_788,
    reason="SchemaConflictError",
    detail="temperature: found the string 'warm', expected long as in the versions before",
    rule="a field keeps its type, only numbers widen",
    diff=("~ temperature: long (optional) -> string (optional)",),
    function="penstock-producer",
    request_id="8d6f7f5e-8c0c-4b6b-a0d5-8a2b7f9f4a11",
    index=0,
)
_KEY = "penstock-producer/2026/11/21/8d6f7f5e-8c0c-4b6b-a0d5-8a2b7f9f4a11-0.json"


def _changed(**changes: Any) -> RejectedEvent:
    return dataclasses.replace(_EVENT, **changes)


def test_a_rejected_event_is_one_json_document() -> None:
    assert json.loads(_EVENT.write()) == {
        "event": {"temperature": "warm", "größe": [1, None]},
        "base": {"deviceId": "000001", "timestamp": 1_795_234_015_788},
        "stampedAt": 1_795_234_015_788,
        "when": "2026-11-21T04:06:55.788+00:00",
        "reason": "SchemaConflictError",
        "detail": "temperature: found the string 'warm', expected long as in the versions before",
        "rule": "a field keeps its type, only numbers widen",
        "diff": ["~ temperature: long (optional) -> string (optional)"],
        "function": "penstock-producer",
        "requestId": "8d6f7f5e-8c0c-4b6b-a0d5-8a2b7f9f4a11",
        "index": 0,
    }
    assert _EVENT.key == _KEY
    assert RejectedEvent.read(_EVENT.write()) == _EVENT


def test_a_request_that_is_kept_whole_says_so() -> None:
    request = _changed(event="[{}]", is_request=True)

    assert json.loads(request.write())["isRequest"] is True
    assert RejectedEvent.read(request.write()) == request


@pytest.mark.parametrize("event", ["warm", 7, None, [1, {}], {"t": 2**70}], ids=str)
def test_any_event_is_kept_unchanged(event: Any) -> None:
    kept = RejectedEvent.read(_changed(event=event).write())

    assert kept.event == event
    if not isinstance(event, dict):
        assert kept.with_base() == event


def test_an_event_that_json_cannot_hold_is_kept_as_repr() -> None:
    document = json.loads(_changed(event={"t": float("inf")}).write())

    assert document["event"] == "{'t': inf}"


def test_a_replay_sends_the_original_timestamp() -> None:
    own = {"deviceId": "d-9", "timestamp": 5}

    assert (
        _EVENT.with_base() == {"deviceId": "000001", "timestamp": 1_795_234_015_788} | _EVENT.event
    )
    assert _changed(event=own).with_base() == own


def test_an_event_that_python_cannot_show_is_kept_as_a_sentence() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    kept = RejectedEvent.read(_changed(event=deep).write())

    assert kept.event == "(an event with objects and lists too deep to be written)"
    assert kept.reason == _EVENT.reason


@pytest.mark.parametrize("stamp", ["soon", None, 10**30, 10**17])
def test_a_document_with_an_impossible_time_is_not_read(stamp: Any) -> None:
    document = json.loads(_EVENT.write()) | {"stampedAt": stamp}

    with pytest.raises(ValueError, match="no document of a rejected event: stampedAt is "):
        RejectedEvent.read(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"{}", "the field event is missing"),
        (b"[]", r"found \[\], expected an object"),
        (b"7", "found 7, expected an object"),
        (b"not JSON", "Expecting value"),
        (b"\xff", "it is not text in UTF-8"),
        (b"[" * 1_000_000, "it nests too deep to be read"),
    ],
    ids=["empty", "list", "number", "text", "bytes", "deep"],
)
def test_another_document_is_not_read_as_a_rejected_event(content: bytes, found: str) -> None:
    with pytest.raises(ValueError, match=f"^no document of a rejected event: {found}"):
        RejectedEvent.read(content)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"stampedAt": "soon"}, "stampedAt is 'soon', expected a number"),
        ({"stampedAt": True}, "stampedAt is True, expected a number"),
        ({"stampedAt": 10**30}, "stampedAt is 1000000000000000000000000000000, expected a time"),
        ({"stampedAt": None}, "stampedAt is None, expected a number"),
        ({"index": "0"}, "index is '0', expected a number"),
        ({"reason": None}, "reason is None, expected a string"),
        ({"detail": ["a"]}, "detail is .'a'., expected a string"),
        ({"function": 7}, "function is 7, expected a string"),
        ({"requestId": {}}, "requestId is {}, expected a string"),
        ({"base": None}, "base is None, expected an object"),
        ({"diff": 3}, "diff is 3, expected a list"),
        ({"diff": [None]}, "diff is .None., expected strings"),
    ],
    ids=str,
)
def test_a_document_with_a_wrong_value_is_not_read_as_a_rejected_event(
    change: dict[str, Any], found: str
) -> None:
    document = json.loads(_EVENT.write()) | change

    with pytest.raises(ValueError, match=f"^no document of a rejected event: {found}"):
        RejectedEvent.read(json.dumps(document).encode())


def test_events_are_listed_read_and_deleted(client: Callable[..., Any], bucket: str) -> None:
    events, kept = RejectedEvents(bucket), dict[int, str]()
    many = [_changed(index=index) for index in range(20)]

    events.keep([*many, _changed(timestamp=0)], kept)
    events.keep([_changed(index=3, reason="again")], kept)  # Lambda brings an event once more

    assert kept == {0: f"penstock-producer/1970/01/01/{_EVENT.request_id}-0.json"} | {
        index: each.key for index, each in enumerate(many) if index
    }
    assert len(keys_of(client, bucket)) == 21
    assert list(events.list(many[19].key[:-5])) == [many[19].key]
    assert events.read(many[3].key) == many[3]  # with its first time of arrival
    events.rewrite(many[3].key, _changed(index=3, reason="left"))
    assert events.read(many[3].key).reason == "left"
    events.delete(_KEY)
    events.delete(_KEY)
    assert _KEY not in keys_of(client, bucket)


def test_events_are_counted_by_producer_up_to_a_number(
    client: Callable[..., Any], bucket: str
) -> None:
    events = RejectedEvents(bucket)
    assert events.list_producers() == ()
    others = [_changed(function="penstock-producer-2", index=index) for index in range(3)]
    events.keep([_changed(timestamp=0), _EVENT, *others], {})

    assert events.list_producers() == ("penstock-producer-2", "penstock-producer")
    assert events.count("penstock-producer", 10) == 2
    assert events.count("penstock-producer-2", 2) == 2
    assert events.count("penstock", 10) == 0


def test_events_of_failed_invocations_are_none_of_a_producer(
    client: Callable[..., Any], bucket: str
) -> None:
    events = RejectedEvents(bucket)
    events.keep([_EVENT], {})
    key = "aws/lambda/async/penstock-producer/2026/11/21/2026-11-21T08.00.00-1"
    client("s3").put_object(Bucket=bucket, Key=key, Body=b"{}")

    assert events.list_producers() == ("penstock-producer",)
    assert list(events.list()) == [_KEY]


def test_counting_lists_no_more_keys_than_it_counts(bucket: str) -> None:
    events, asked = RejectedEvents(bucket), list[dict[str, Any]]()

    def list_page(**request: Any) -> Any:
        asked.append(request)
        keys = [{"Key": f"{request['Prefix']}{len(asked)}-{n}"} for n in range(1_000)]
        return {"Contents": keys, "IsTruncated": True, "NextContinuationToken": "more"}

    events._s3.list_objects_v2 = list_page

    assert events.count("f", 2_000) == 2_000
    assert len(asked) == 2


def test_an_event_that_cannot_be_kept_is_an_error_and_the_rest_is_kept(
    client: Callable[..., Any], bucket: str
) -> None:
    events, kept = RejectedEvents(bucket), dict[int, str]()
    put = events._s3.put_object

    def put_but_one(**request: Any) -> Any:
        return put(**request | {"Bucket": "absent"} if "-1.json" in request["Key"] else request)

    events._s3.put_object = put_but_one  # type: ignore[method-assign]

    with pytest.raises(SinkUnavailableError, match=r"-1\.json cannot be written: .*NoSuchBucket"):
        events.keep([_changed(index=index) for index in range(3)], kept)

    assert sorted(kept) == [0, 2]


def test_a_denied_bucket_names_the_action(bucket: str) -> None:
    events = RejectedEvents(bucket)
    answer = {"Error": {"Code": "AccessDenied", "Message": "not for you."}}
    denied = Mock(side_effect=ClientError(answer, "GetObject"))  # type: ignore[arg-type]
    events._s3.get_object = denied  # type: ignore[method-assign]

    with pytest.raises(SinkAccessDeniedError, match=f"s3://{bucket}/k cannot be read: .*for you$"):
        events.read("k")


def test_a_client_that_cannot_be_built_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "absent")
    monkeypatch.setattr("penstock.producing.rejected.load_session", Session)

    message = r"s3://b/ cannot be opened: The config profile \(absent\) could not be found$"
    with pytest.raises(SinkAccessDeniedError, match=message):
        list(RejectedEvents("b").list())


def test_an_unreachable_bucket_is_an_error(monkeypatch: pytest.MonkeyPatch, bucket: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")

    with pytest.raises(SinkUnavailableError, match=rf"s3://{bucket}/ cannot be listed: Could not"):
        list(RejectedEvents(bucket).list())
