"""Calls of one service, from many threads, over connections that are kept."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError, CredentialRetrievalError, NoCredentialsError
from botocore.session import Session

from penstock.aws import AwsClient, Service
from systems.sessions import make_session
from tests.stubs.dynamodb_api import DynamoDbApi, Reply, refusal, serve_dynamodb


@pytest.fixture
def api() -> Iterator[DynamoDbApi]:
    with serve_dynamodb() as api:
        yield api


@pytest.fixture
def glue(api: DynamoDbApi) -> Iterator[AwsClient]:
    client = AwsClient(Service.GLUE, make_session("AKIAMADEUP"), endpoint=api.endpoint)
    yield client
    client.close()


def test_a_call_is_glues(api: DynamoDbApi, glue: AwsClient) -> None:
    api.replies = [Reply(body=b'{"Compatibility": "FULL", "SchemaCheckpoint": 3}')]

    answer = glue.call("GetSchema", {"SchemaId": {"SchemaName": "s\u00e9nsor"}})

    assert answer == {"Compatibility": "FULL", "SchemaCheckpoint": 3}
    assert api.requests == [{"SchemaId": {"SchemaName": "s\u00e9nsor"}}]
    sent = api.headers[0]
    assert sent["X-Amz-Target"] == "AWSGlue.GetSchema"
    assert sent["Content-Type"] == "application/x-amz-json-1.1"
    assert "/eu-central-1/glue/aws4_request" in sent["Authorization"]


@pytest.mark.parametrize(
    ("reply", "code", "message"),
    [
        (refusal("EntityNotFoundException"), "EntityNotFoundException", "told so"),
        (
            Reply(400, b'{"__type": "AccessDeniedException", "Message": "no"}'),
            "AccessDeniedException",
            "no",
        ),
        (Reply(503, b"<html>"), "status 503", "<html>"),
    ],
)
def test_an_error_answer_is_botocores_client_error(
    api: DynamoDbApi, glue: AwsClient, reply: Reply, code: str, message: str
) -> None:
    api.replies = [reply]

    with pytest.raises(ClientError) as caught:
        glue.call("GetSchema", {})

    assert caught.value.operation_name == "GetSchema"
    assert caught.value.response["Error"] == {"Code": code, "Message": message}
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == reply.status


@pytest.mark.parametrize(
    ("body", "said"),
    [(b"<html>", "Expecting value"), (b"[]", "found JSON of type list, expected an object")],
)
def test_an_answer_that_is_no_object(
    api: DynamoDbApi, glue: AwsClient, body: bytes, said: str
) -> None:
    api.replies = [Reply(body=body)]

    with pytest.raises(ValueError, match=said):
        glue.call("GetSchema", {})


def test_without_credentials_nothing_is_sent(
    api: DynamoDbApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session()
    session.set_config_variable("region", "eu-central-1")
    monkeypatch.setattr(session, "get_credentials", lambda: None)
    glue = AwsClient(Service.GLUE, session, endpoint=api.endpoint)

    with pytest.raises(NoCredentialsError):
        glue.call("GetSchema", {})
    assert api.connections == 0


@pytest.mark.parametrize(
    "error", [RuntimeError("they are still expired"), FileNotFoundError(2, "no such program")]
)
def test_credentials_that_cannot_be_renewed_are_botocores_error(
    api: DynamoDbApi, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    session = make_session("AKIAMADEUP")
    kept = SimpleNamespace(get_frozen_credentials=Mock(side_effect=error))
    monkeypatch.setattr(session, "get_credentials", lambda: kept)
    glue = AwsClient(Service.GLUE, session, endpoint=api.endpoint)

    with pytest.raises(CredentialRetrievalError, match=r"still expired|no such program"):
        glue.call("GetSchema", {})
    monkeypatch.setattr(session, "get_credentials", Mock(side_effect=error))
    with pytest.raises(CredentialRetrievalError, match=r"still expired|no such program"):
        AwsClient(Service.GLUE, session, endpoint=api.endpoint)
    assert api.connections == 0


def test_threads_have_connections_of_their_own_and_leave_them_to_others(
    api: DynamoDbApi, glue: AwsClient
) -> None:
    together = Barrier(4, timeout=30)

    def answer(_: object) -> Reply:
        together.wait()
        return Reply()

    api.otherwise = answer
    for _ in range(3):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: glue.call("GetSchema", {}), range(4)))

    assert api.connections == 4
    assert len(api.requests) == 12


def test_connections_end_with_their_client(api: DynamoDbApi) -> None:
    glue = AwsClient(Service.GLUE, make_session("AKIAMADEUP"), endpoint=api.endpoint)
    glue.call("GetSchema", {})
    (connection,) = glue._idle

    del glue
    gc.collect()

    assert connection._answers is None
