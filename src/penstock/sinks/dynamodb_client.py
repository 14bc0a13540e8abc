"""Calls to DynamoDB: botocore's credentials, signature and endpoint, and nothing else of it.

A request costs a fifth of what it costs with a boto3 client, which matters at 25 rows each.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError

from penstock.attempts import Attempts
from penstock.credentials import load_session
from penstock.errors import (
    RowTooLargeError,
    SettingsError,
    SinkAccessDeniedError,
    SinkError,
    SinkRefusedError,
    SinkUnavailableError,
)
from penstock.sinks._attempts import CALL_ATTEMPTS

_TIMEOUT_SECONDS = 10.0
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
_TOO_LARGE = 413
# AWS takes signatures of up to five minutes off; less than this was not what it refused.
_LEAST_SKEW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes

    def is_whole(self) -> bool:
        """Compare the checksum, which covers what TCP's lets through."""
        told = self.headers.get("x-amz-crc32")
        return told is None or int(told) == zlib.crc32(self.content)

    def error(self) -> tuple[str, str]:
        """Give code and message, as far as the body holds any: a proxy's is no JSON."""
        try:
            body = json.loads(self.content)
            code = str(body["__type"]).rpartition("#")[2]
            return code, str(body.get("message") or body.get("Message") or "")
        except (ValueError, KeyError, TypeError, AttributeError):
            return f"status {self.status}", self.content[:200].decode(errors="replace")


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
        self._region = client.meta.region_name
        client.close()
        self._credentials = session.get_credentials()
        self._attempts = attempts
        self._skew = timedelta()
        self._connection: HTTPConnection | None = None

    def call(self, operation: str, body: bytes) -> dict[str, Any]:
        """Make a call, again and again while its failure may pass.

        Raises:
            SinkRefusedError: DynamoDB refuses the request as such.
            SinkAccessDeniedError: no credentials, or these may not (retriable).
            SinkUnavailableError: throttled, down, no such table, no answer (retriable).
        """
        cause: Exception | None = None
        for _ in self._attempts:
            try:
                answer = self._exchange(operation, body)
            except (OSError, HTTPException) as error:
                self.close()
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
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _judge(self, operation: str, answer: _Answer) -> str:
        """Say what may pass; raise what will not."""
        code, message = answer.error()
        problem = f"{code}: {message}"
        if answer.status >= 500 or code in _THROTTLED:
            return problem
        if code in _SKEWED and self._follow_clock(answer):
            return problem
        kind: type[SinkError] = SinkUnavailableError
        if code in _DENIED:
            kind = SinkAccessDeniedError
        elif code in _REFUSED or answer.status == _TOO_LARGE:
            kind = RowTooLargeError if "Item size" in message else SinkRefusedError
        raise kind(f"DynamoDB's {operation} was refused: {problem}")

    def _follow_clock(self, answer: _Answer) -> bool:
        """Take DynamoDB's clock for the signatures from now on; False if ours was right."""
        try:
            theirs = parsedate_to_datetime(answer.headers["date"])
        except (KeyError, ValueError):
            return False
        before, self._skew = self._skew, theirs - datetime.now(UTC)
        return abs(self._skew - before) >= _LEAST_SKEW

    def _exchange(self, operation: str, body: bytes) -> _Answer:
        connection = self._connect()
        connection.request("POST", "/", body, self._sign(operation, body))
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return _Answer(response.status, headers, response.read())

    def _connect(self) -> HTTPConnection:
        if self._connection is None:
            parts = urlsplit(self._endpoint)
            kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
            self._connection = kind(parts.netloc, timeout=_TIMEOUT_SECONDS)
        return self._connection

    def _sign(self, operation: str, body: bytes) -> dict[str, str]:
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
        }
        request = AWSRequest("POST", f"{self._endpoint}/", headers, body)
        credentials = self._credentials and self._credentials.get_frozen_credentials()
        _ShiftedSigV4Auth(credentials, "dynamodb", self._region, self._skew).add_auth(request)
        return dict(request.headers.items())


class _ShiftedSigV4Auth(SigV4Auth):
    """AWS's signature by a clock that is not this machine's."""

    def __init__(self, credentials: Any, service: str, region: str, skew: timedelta) -> None:
        super().__init__(credentials, service, region)
        self._skew = skew

    def _modify_request_before_signing(self, request: AWSRequest) -> None:
        if self._skew:
            now = datetime.now(UTC) + self._skew
            request.context["timestamp"] = now.strftime("%Y%m%dT%H%M%SZ")
        super()._modify_request_before_signing(request)  # type: ignore[misc] # not in its stubs
