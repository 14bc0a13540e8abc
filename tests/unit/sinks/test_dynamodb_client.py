"""A call is signed, checked and repeated while its failure may pass, and no longer."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.client import HTTPConnection
from typing import Any
from unittest.mock import patch

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials

from penstock.attempts import Attempts
from penstock.errors import (
    RowExistsError,
    RowTooLargeError,
    SettingsError,
    SinkAccessDeniedError,
    SinkError,
    SinkRefusedError,
    SinkUnavailableError,
)
from penstock.sinks import DynamoDbClient
from systems.sessions import make_session
from tests.stubs.clock import FakeTime
from tests.stubs.dynamodb_api import CUT, DynamoDbApi, Reply, refusal

_BODY = b'{"RequestItems":{}}'
_ANSWER = Reply(body=b'{"UnprocessedItems":{}}')


def _http_date(ahead: timedelta) -> str:
    return format_datetime(datetime.now(UTC) + ahead)


def test_a_call_names_its_operation_and_is_signed(
    api: DynamoDbApi, build: Callable[..., DynamoDbClient]
) -> None:
    api.replies = [_ANSWER]

    answer = build("a-token").call("BatchWriteItem", _BODY)

    assert answer == {"UnprocessedItems": {}}
    headers = api.headers[0]
    assert headers["X-Amz-Target"] == "DynamoDB_20120810.BatchWriteItem"
    assert headers["Content-Type"] == "application/x-amz-json-1.0"
    assert headers["X-Amz-Security-Token"] == "a-token"
    assert headers["Accept-Encoding"] == "identity"  # the checksum is of what is not compressed
    assert "/eu-central-1/dynamodb/aws4_request" in headers["Authorization"]


def test_a_body_that_is_a_function_is_made_for_each_attempt(
    api: DynamoDbApi, dynamodb: DynamoDbClient
) -> None:
    api.replies = [refusal("ThrottlingException"), CUT, _ANSWER]
    numbers = iter(range(9))

    dynamodb.call("BatchWriteItem", lambda: b'{"attempt":%d}' % next(numbers))

    assert [each["attempt"] for each in api.requests] == [0, 1, 2]


def test_the_signature_is_botocores_own(api: DynamoDbApi, dynamodb: DynamoDbClient) -> None:
    dynamodb.call("BatchWriteItem", _BODY)

    sent = api.headers[0]
    signed = {name: sent[name] for name in ("Content-Type", "X-Amz-Target")}
    request = AWSRequest("POST", f"{api.endpoint}/", signed, _BODY)
    now = datetime.strptime(sent["X-Amz-Date"], "%Y%m%dT%H%M%SZ")
    with patch("botocore.auth.get_current_datetime", return_value=now):
        SigV4Auth(
            ReadOnlyCredentials("AKIAMADEUP", "any", None), "dynamodb", "eu-central-1"
        ).add_auth(request)
    assert sent["Authorization"] == request.headers["Authorization"]


def test_the_connection_is_kept(api: DynamoDbApi, dynamodb: DynamoDbClient) -> None:
    for _ in range(3):
        dynamodb.call("BatchWriteItem", _BODY)
    assert api.connections == 1

    dynamodb.close()
    dynamodb.call("BatchWriteItem", _BODY)
    assert api.connections == 2


@pytest.mark.parametrize(
    ("failure", "connections"),
    [
        (refusal("ProvisionedThroughputExceededException"), 1),
        (refusal("ThrottlingException"), 1),
        (refusal("RequestLimitExceeded"), 1),
        (refusal("InternalServerError", status=500), 1),
        (Reply(503, b"<html>no JSON</html>"), 1),
        (Reply(500, b"[]"), 1),
        (Reply(body=_ANSWER.body, headers={"x-amz-crc32": "1"}), 1),
        (CUT, 2),
        (Reply(body=_ANSWER.body, sent=5), 2),
    ],
    ids=[
        *("throughput", "throttled", "limit", "internal", "proxy", "odd", "damaged", "cut"),
        "cut in the answer",
    ],
)
def test_a_temporary_failure_is_retried(
    api: DynamoDbApi,
    dynamodb: DynamoDbClient,
    time: FakeTime,
    failure: Reply,
    connections: int,
) -> None:
    api.replies = [failure, failure, _ANSWER]

    assert dynamodb.call("BatchWriteItem", _BODY) == {"UnprocessedItems": {}}
    assert api.requests == [json.loads(_BODY)] * 3
    assert time.pauses == [0.05, 0.1]
    assert (api.connections > 1) == (connections > 1)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (refusal("ThrottlingException", "slow down"), "ThrottlingException: slow down"),
        (Reply(503, b"<html>"), "status 503: <html>"),
        (Reply(headers={"x-amz-crc32": "1"}), "an answer with a wrong checksum"),
        (CUT, "no answer from http://127.0.0.1:"),
        (Reply(body=b"<html>"), "an answer that cannot be read: JSONDecodeError("),
        (Reply(body=b"[]"), "an answer that cannot be read: ValueError('found JSON of type list, "),
        (Reply(body=b"[" * 100_000), "an answer that cannot be read: ValueError('found JSON that"),
        (
            Reply(headers={"Content-Length": str(10**20)}),
            "no answer from http://127.0.0.1:",
        ),
    ],
    ids=["throttled", "down", "damaged", "cut", "no JSON", "a list", "deep", "endless"],
)
def test_a_failure_that_lasts_is_unavailable(
    api: DynamoDbApi, dynamodb: DynamoDbClient, failure: Reply, said: str
) -> None:
    api.otherwise = lambda _: failure

    with pytest.raises(SinkUnavailableError) as caught:
        dynamodb.call("BatchWriteItem", _BODY)

    assert str(caught.value).startswith(f"DynamoDB's BatchWriteItem failed for 10 s: {said}")
    assert caught.value.retriable
    assert len(api.requests) > 5


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (refusal("ValidationException"), SinkRefusedError),
        (refusal("ValidationException", "Item size has exceeded the maximum"), RowTooLargeError),
        (
            refusal("ValidationException", "KMS key disabled error: com.amazonaws.services.kms"),
            SinkAccessDeniedError,
        ),
        (refusal("ItemCollectionSizeLimitExceededException"), SinkRefusedError),
        (Reply(413, b""), SinkRefusedError),
        (refusal("AccessDeniedException"), SinkAccessDeniedError),
        (refusal("ExpiredTokenException"), SinkAccessDeniedError),
        (refusal("UnrecognizedClientException"), SinkAccessDeniedError),
        (refusal("ResourceNotFoundException"), SinkUnavailableError),
        (refusal("SomethingNew"), SinkUnavailableError),
    ],
    ids=[
        *("validation", "too large", "table's key", "collection", "body", "denied", "expired"),
        *("unknown key", "no table", "unknown"),
    ],
)
def test_a_permanent_error_is_raised_without_a_retry(
    api: DynamoDbApi, dynamodb: DynamoDbClient, reply: Reply, kind: type[SinkError]
) -> None:
    api.replies = [reply]

    with pytest.raises(SinkError, match=r"^DynamoDB's BatchWriteItem was refused: ") as caught:
        dynamodb.call("BatchWriteItem", _BODY)

    assert type(caught.value) is kind
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("body", "tables"),
    [(b'{"TableName":"a"}', "a"), (b'{"RequestItems":{"a":{},"b":{}}}', "a, b")],
)
def test_a_table_that_is_missing_is_named(
    api: DynamoDbApi, dynamodb: DynamoDbClient, body: bytes, tables: str
) -> None:
    api.replies = [refusal("ResourceNotFoundException", "Requested resource not found")]

    with pytest.raises(SinkUnavailableError) as caught:
        dynamodb.call("GetItem", body)

    assert str(caught.value) == (
        "DynamoDB's GetItem was refused: ResourceNotFoundException: Requested resource not found; "
        f"expected table {tables} at {api.endpoint}; check its name, the region and the account"
    )


@pytest.mark.parametrize("code", ["InvalidSignatureException", "RequestTimeTooSkewed"])
@pytest.mark.parametrize("hours", [-30, 1])
def test_signatures_follow_dynamodbs_clock(
    api: DynamoDbApi, dynamodb: DynamoDbClient, code: str, hours: int
) -> None:
    theirs = timedelta(hours=hours)
    api.replies = [refusal(code, date=_http_date(theirs)), _ANSWER, _ANSWER]

    dynamodb.call("BatchWriteItem", _BODY)
    dynamodb.call("BatchWriteItem", _BODY)

    assert len(api.requests) == 3  # learnt once
    times = [
        datetime.strptime(sent["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        for sent in api.headers
    ]
    wanted = datetime.now(UTC) + theirs
    assert abs(times[0] - datetime.now(UTC)) < timedelta(minutes=1)
    assert all(abs(time - wanted) < timedelta(minutes=1) for time in times[1:])
    day = wanted.strftime("%Y%m%d")
    assert all(f"/{day}/eu-central-1/" in sent["Authorization"] for sent in api.headers[1:])


@pytest.mark.parametrize("date", [None, "no date", "Mon, 20 Nov 1995 19:12:08 -0000", "now"])
def test_a_signature_refused_at_the_right_time_is_denied(
    api: DynamoDbApi, dynamodb: DynamoDbClient, date: str | None
) -> None:
    now = _http_date(timedelta()) if date == "now" else date
    headers = {} if now is None else {"date": now}
    api.replies = [refusal("InvalidSignatureException", **headers)]

    with pytest.raises(SinkAccessDeniedError, match="InvalidSignatureException: told so"):
        dynamodb.call("BatchWriteItem", _BODY)

    assert len(api.requests) == 1


def test_without_a_region_nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")

    message = "DynamoDB cannot be used: found no region, expected AWS_REGION$"
    with pytest.raises(SettingsError, match=message):
        DynamoDbClient()


def test_an_endpoint_without_a_scheme_is_no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "localhost:4566")

    message = "DynamoDB cannot be used: Invalid endpoint: localhost:4566$"
    with pytest.raises(SettingsError, match=message):
        DynamoDbClient(make_session("AKIAMADEUP"))


def _bodies(count: int) -> list[bytes]:
    return [json.dumps({"place": place}).encode() for place in range(count)]


def test_25_calls_are_under_way_at_the_same_time(
    api: DynamoDbApi, dynamodb: DynamoDbClient
) -> None:
    arrived = threading.Barrier(25, timeout=30)

    def answer(request: dict[str, Any]) -> Reply:
        if request["place"] < 25:
            arrived.wait()  # breaks unless 25 requests come before the first answer
        return Reply()

    api.otherwise = answer

    assert list(dynamodb.call_each("PutItem", _bodies(30))) == [None] * 30
    assert sorted(request["place"] for request in api.requests) == list(range(30))
    assert api.connections == 25


def test_of_calls_made_together_only_those_that_failed_are_retried(
    api: DynamoDbApi, dynamodb: DynamoDbClient, time: FakeTime
) -> None:
    failures = {
        1: [refusal("ThrottlingException"), refusal("ThrottlingException")],
        2: [CUT],
        3: [refusal("ConditionalCheckFailedException")],
        4: [refusal("ValidationException", "Item size has exceeded the maximum")],
    }

    def answer(request: dict[str, Any]) -> Reply:
        left = failures.get(request["place"])
        return left.pop(0) if left else Reply()

    api.otherwise = answer

    outcomes = list(dynamodb.call_each("PutItem", _bodies(6)))

    kinds = [outcome and type(outcome) for outcome in outcomes]
    assert kinds == [None, None, None, RowExistsError, RowTooLargeError, None]
    sent = Counter(request["place"] for request in api.requests)
    assert sent == {0: 1, 1: 3, 2: 2, 3: 1, 4: 1, 5: 1}
    assert time.pauses == [0.05, 0.1]


def test_a_refused_condition_has_the_item_that_was_asked_for(
    api: DynamoDbApi, dynamodb: DynamoDbClient
) -> None:
    item = {"id": {"S": "1"}}
    told = {"__type": "x#ConditionalCheckFailedException", "message": "no", "Item": item}
    api.replies = [
        Reply(400, json.dumps(told).encode()),
        refusal("ConditionalCheckFailedException"),
    ]

    with pytest.raises(RowExistsError) as refused:
        dynamodb.call("PutItem", _BODY)
    with pytest.raises(RowExistsError) as other:
        dynamodb.call("PutItem", _BODY)

    assert (refused.value.item, other.value.item) == (item, None)


def test_calls_made_together_follow_dynamodbs_clock(
    api: DynamoDbApi, dynamodb: DynamoDbClient
) -> None:
    skewed = refusal("InvalidSignatureException", date=_http_date(timedelta(hours=1)))
    api.replies = [skewed] * 3

    assert list(dynamodb.call_each("PutItem", _bodies(3))) == [None] * 3
    assert len(api.requests) == 6


def test_without_a_service_calls_made_together_connect_once_for_each_attempt(
    api: DynamoDbApi, attempts: Attempts
) -> None:
    client = DynamoDbClient(make_session("AKIAMADEUP"), attempts=attempts)
    refused = ConnectionRefusedError("refused")
    with (
        patch.object(HTTPConnection, "connect", side_effect=refused) as connect,
        pytest.raises(SinkUnavailableError, match=r"no answer from .*ConnectionRefusedError"),
    ):
        list(client.call_each("PutItem", _bodies(25)))

    assert connect.call_count == len(list(attempts))


def test_an_interrupted_call_leaves_no_answer_to_the_next(
    api: DynamoDbApi, dynamodb: DynamoDbClient
) -> None:
    api.otherwise = lambda request: Reply(body=json.dumps(request).encode())
    with (
        patch("penstock.aws.client._receive", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        list(dynamodb.call_each("PutItem", _bodies(3)))

    assert dynamodb.call("PutItem", b'{"place":7}') == {"place": 7}
