"""Calls to DynamoDB: botocore's credentials and endpoint, and nothing else of it.

A request costs a tenth of what it costs with a boto3 client, which matters at 25 rows each.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import BotoCoreError, NoCredentialsError

from penstock.attempts import Attempts
from penstock.credentials import load_session
from penstock.errors import (
    RowExistsError,
    RowTooLargeError,
    SettingsError,
    SinkAccessDeniedError,
    SinkError,
    SinkRefusedError,
    SinkUnavailableError,
)
from penstock.sinks._attempts import CALL_ATTEMPTS
from penstock.sinks._connection import Answer, KeptConnection
from penstock.sinks._signature import Signer

_THROTTLED = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
}
_SKEWED = {"InvalidSignatureException", "RequestTimeTooSkewed", "RequestExpired"}
_DENIED = {
    "AccessDeniedException",
    "ExpiredTokenException",
    "IncompleteSignatureException",
    "MissingAuthenticationTokenException",
    "UnrecognizedClientException",
    *_SKEWED,
}
_REFUSED = {"ValidationException", "ItemCollectionSizeLimitExceededException"}
_UNMET = "ConditionalCheckFailedException"
_TOO_LARGE = 413
# AWS takes signatures of up to five minutes off; less than this was not what it refused.
_LEAST_SKEW = timedelta(minutes=1)


class DynamoDbClient:
    """One kept connection to DynamoDB, for one thread."""

    def __init__(
        self, session: boto3.Session | None = None, *, attempts: Attempts = CALL_ATTEMPTS
    ) -> None:
        """Ask botocore where DynamoDB is and who we are; nothing is called yet."""
        session = session or load_session()
        try:
            client = session.client("dynamodb")  # knows the region's name and AWS_ENDPOINT_URL
        except BotoCoreError as error:
            raise SettingsError([f"DynamoDB cannot be used: {error}"]) from error
        self._endpoint = client.meta.endpoint_url
        # Any path but the root's would have to be signed, and no endpoint of DynamoDB has one.
        self._signer = Signer(urlsplit(self._endpoint).netloc, client.meta.region_name)
        self._connection = KeptConnection(self._endpoint)
        client.close()
        self._credentials = session.get_credentials()
        self._attempts = attempts
        self._skew = timedelta()

    def call(self, operation: str, body: bytes) -> dict[str, Any]:
        """Make a call, again and again while its failure may pass.

        Raises:
            SinkRefusedError: DynamoDB refuses the request as such.
            RowExistsError: it was to be done on the condition that there is no such row.
            SinkAccessDeniedError: no credentials, or these may not (retriable).
            SinkUnavailableError: throttled, down, no such table, no answer (retriable).
        """
        cause: Exception | None = None
        for _ in self._attempts:
            try:
                answer = self._exchange(operation, body)
            except (OSError, HTTPException) as error:
                cause, problem = error, f"no answer from {self._endpoint}: {error!r}"
                continue
            except BotoCoreError as error:
                raise SinkAccessDeniedError(f"DynamoDB's {operation}: {error}") from error
            cause = None
            if not answer.is_whole():
                problem = "an answer that was damaged on its way"
            elif answer.status == 200:
                return dict(json.loads(answer.content))
            else:
                problem = self._judge(operation, answer)
        raise SinkUnavailableError(
            f"DynamoDB's {operation} failed for {self._attempts.total_seconds:g} s: {problem}"
        ) from cause

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        self._connection.close()

    def _judge(self, operation: str, answer: Answer) -> str:
        """Say what may pass; raise what will not."""
        code, message = _read_error(answer)
        problem = f"{code}: {message}"
        if answer.status >= 500 or code in _THROTTLED:
            return problem
        if code in _SKEWED and self._follow_clock(answer):
            return problem
        kind: type[SinkError] = SinkUnavailableError
        if code in _DENIED:
            kind = SinkAccessDeniedError
        elif code == _UNMET:
            kind = RowExistsError
        elif code in _REFUSED or answer.status == _TOO_LARGE:
            kind = RowTooLargeError if "Item size" in message else SinkRefusedError
        raise kind(f"DynamoDB's {operation} was refused: {problem}")

    def _follow_clock(self, answer: Answer) -> bool:
        """Take DynamoDB's clock for the signatures from now on; False if ours was right."""
        try:
            theirs = parsedate_to_datetime(answer.headers["date"])
        except (KeyError, ValueError):
            return False
        before, self._skew = self._skew, theirs - datetime.now(UTC)
        return abs(self._skew - before) >= _LEAST_SKEW

    def _exchange(self, operation: str, body: bytes) -> Answer:
        if self._credentials is None:
            raise NoCredentialsError
        credentials = self._credentials.get_frozen_credentials()
        now = datetime.now(UTC) + self._skew
        target = f"DynamoDB_20120810.{operation}"
        return self._connection.post(self._signer.sign(credentials, target, body, now), body)


def _read_error(answer: Answer) -> tuple[str, str]:
    """Give code and message, as far as the body holds any: a proxy's is no JSON."""
    try:
        body = json.loads(answer.content)
        code = str(body["__type"]).rpartition("#")[2]
        return code, str(body.get("message") or body.get("Message") or "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"status {answer.status}", answer.content[:200].decode(errors="replace")
