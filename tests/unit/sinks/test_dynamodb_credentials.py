"""The credentials that sign calls to DynamoDB: renewed, missing, refused and away."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock, patch

import pytest
from botocore.exceptions import ClientError, CredentialRetrievalError

from penstock.attempts import Attempts
from penstock.errors import SinkAccessDeniedError
from penstock.sinks import DynamoDbClient
from systems.sessions import make_session
from tests.stubs.dynamodb_api import DynamoDbApi

_BODY = b'{"RequestItems":{}}'


def test_credentials_are_asked_for_at_each_call(api: DynamoDbApi, attempts: Attempts) -> None:
    session = make_session("AKIATOBERENEWED")
    client = DynamoDbClient(session, attempts=attempts)
    client.call("BatchWriteItem", _BODY)
    session.get_credentials().access_key = "AKIARENEWED"
    client.call("BatchWriteItem", _BODY)
    client.close()

    assert ["Credential=AKIARENEWED/" in sent["Authorization"] for sent in api.headers] == [
        False,
        True,
    ]


def test_without_credentials_the_record_waits(api: DynamoDbApi, attempts: Attempts) -> None:
    session = make_session("AKIAMADEUP")
    with patch.object(session, "get_credentials", return_value=None):
        client = DynamoDbClient(session, attempts=attempts)

    with pytest.raises(SinkAccessDeniedError, match="BatchWriteItem: Unable to locate credentials"):
        client.call("BatchWriteItem", _BODY)


def _connect(attempts: Attempts, *credentials: Any) -> DynamoDbClient:
    """Return a client whose credentials, at one call after the other, are these."""
    session = make_session("AKIAMADEUP")
    kept = Mock(get_frozen_credentials=Mock(side_effect=credentials))
    with patch.object(session, "get_credentials", return_value=kept):
        return DynamoDbClient(session, attempts=attempts)


def test_a_role_that_is_refused_is_no_permission(api: DynamoDbApi, attempts: Attempts) -> None:
    client = _connect(attempts, ClientError({"Error": {"Code": "AccessDenied"}}, "AssumeRole"))

    with pytest.raises(SinkAccessDeniedError, match=r"BatchWriteItem: .*AssumeRole"):
        client.call("BatchWriteItem", _BODY)


def test_credentials_that_are_away_for_a_moment_are_asked_for_again(
    api: DynamoDbApi, attempts: Attempts
) -> None:
    silent = CredentialRetrievalError(provider="container-role", error_msg="silent")
    frozen = make_session("AKIAMADEUP").get_credentials().get_frozen_credentials()

    assert _connect(attempts, silent, frozen).call("BatchWriteItem", _BODY) == {}
