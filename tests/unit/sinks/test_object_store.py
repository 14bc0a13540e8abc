"""What goes wrong with a bucket is said in our words, and may pass."""

from __future__ import annotations

from threading import Barrier
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from botocore.parsers import ResponseParserError

from penstock.errors import (
    ObjectMissingError,
    SinkAccessDeniedError,
    SinkError,
    SinkUnavailableError,
)
from penstock.sinks import ObjectStore


def _refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "told so"}}, "PutObject")


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (_refused("AccessDenied"), SinkAccessDeniedError),
        (_refused("ExpiredToken"), SinkAccessDeniedError),
        (_refused("SlowDown"), SinkUnavailableError),
        (_refused("NoSuchBucket"), SinkUnavailableError),
        (EndpointConnectionError(endpoint_url="http://s3"), SinkUnavailableError),
        (NoCredentialsError(), SinkAccessDeniedError),
        (ResponseParserError("invalid XML"), SinkUnavailableError),
    ],
    ids=["denied", "expired", "slow", "no bucket", "no answer", "no credentials", "no XML"],
)
def test_a_failure_is_retriable_and_names_the_object(
    failure: Exception, kind: type[SinkError]
) -> None:
    session = Mock()
    session.create_client.return_value.put_object.side_effect = failure

    with pytest.raises(kind, match=r"^s3://parked/a/b cannot be written: ") as caught:
        ObjectStore("parked", session).put("a/b", b"x")

    assert type(caught.value) is kind
    assert caught.value.retriable


@pytest.mark.parametrize(
    ("found", "listed", "kind"),
    [
        ("NoSuchKey", [], ObjectMissingError),
        ("AccessDenied", [], ObjectMissingError),
        ("AccessDenied", ["a/b"], SinkAccessDeniedError),
        ("AccessDenied", ["a/b-c"], ObjectMissingError),
        ("AccessDenied", None, SinkAccessDeniedError),
        ("SlowDown", ["a/b"], SinkUnavailableError),
    ],
)
def test_a_missing_object_that_looks_forbidden_is_reported_as_missing(
    found: str, listed: list[str] | None, kind: type[SinkError]
) -> None:
    session = Mock()
    client = session.create_client.return_value
    client.get_object.side_effect = _refused(found)
    if listed is None:
        client.list_objects_v2.side_effect = _refused("AccessDenied")
    else:
        client.list_objects_v2.return_value = {"Contents": [{"Key": key} for key in listed]}

    with pytest.raises(SinkError, match=r"^s3://parked/a/b (cannot be read: |is not there$)") as it:
        ObjectStore("parked", session).get("s3://parked/a/b")

    assert type(it.value) is kind


def test_a_client_is_built_by_the_first_object_only() -> None:
    session = Mock()
    store = ObjectStore("parked", session)
    assert session.create_client.call_count == 0

    assert [store.put(name, b"x") for name in "ab"] == ["s3://parked/a", "s3://parked/b"]
    assert session.create_client.call_count == 1


def test_objects_are_written_eight_at_once_by_one_client() -> None:
    session, together = Mock(), Barrier(8, timeout=60)
    put = session.create_client.return_value.put_object
    put.side_effect = lambda **_: together.wait()
    names = [f"k{at}" for at in range(16)]

    places = ObjectStore("parked", session).put_each((name, name.encode()) for name in names)

    assert places == [f"s3://parked/{name}" for name in names]
    written = {call.kwargs["Key"]: call.kwargs["Body"] for call in put.call_args_list}
    assert written == {name: name.encode() for name in names}
    assert session.create_client.call_count == 1


def test_the_error_of_one_of_several_objects_is_raised() -> None:
    session, refused = Mock(), _refused("AccessDenied")
    session.create_client.return_value.put_object.side_effect = [None, refused, *[None] * 6]

    with pytest.raises(SinkAccessDeniedError, match="cannot be written"):
        ObjectStore("parked", session).put_each((f"k{at}", b"x") for at in range(9))
