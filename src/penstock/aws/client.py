"""A client for AWS services that speak JSON; it uses botocore only for credentials and endpoints.

A botocore client is built from the whole model of a service, checks each request against the model
and converts each answer to its types. We make only a dozen kinds of requests.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

from botocore.exceptions import ClientError, NoCredentialsError
from botocore.session import Session

from penstock.aws._address import find_address
from penstock.aws._signature import Signer
from penstock.aws.connection import Answer, KeptConnection, Timeouts

_OK = 200
_TIMEOUTS = Timeouts()
# AWS accepts a clock skew of up to five minutes; a smaller skew than this is not the cause.
_LEAST_SKEW = timedelta(minutes=1)


class Service(Enum):
    """An AWS service: its name in endpoints and signatures, and its prefix of operations."""

    ATHENA = ("athena", "AmazonAthena", "1.1")
    DYNAMODB = ("dynamodb", "DynamoDB_20120810", "1.0")
    GLUE = ("glue", "AWSGlue", "1.1")

    def __init__(self, label: str, target: str, json_version: str) -> None:
        self.label = label
        self.target = target
        self.json_version = json_version


class AwsClient:
    """A thread-safe client of one service, with a connection for each thread that calls at once.

    Building it makes no call; it raises BotoCoreError or ValueError without a valid region and
    endpoint.
    """

    def __init__(
        self,
        service: Service,
        session: Session,
        *,
        endpoint: str | None = None,
        timeouts: Timeouts = _TIMEOUTS,
    ) -> None:
        self.endpoint, region = find_address(session, service.label, endpoint)
        self._signer = Signer(service.label, self.endpoint, region, service.json_version)
        self._target = service.target
        self._credentials = session.get_credentials()
        self._ca_file = session.get_config_variable("ca_bundle")
        self.timeouts = timeouts
        self._idle: list[KeptConnection] = []
        weakref.finalize(self, _close_all, self._idle)  # few users close a client
        self._skew = timedelta()

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Call an operation, without retries, and return its answer.

        Raises:
            ClientError: the service answered with an error, in the form of botocore's clients.
            BotoCoreError: there are no credentials.
            OSError, HTTPException: there was no answer.
            ValueError: the answer is not a JSON object.
        """
        answer = self.send(operation, json.dumps(request).encode())
        if answer.status == _OK:
            return answer.read_object()
        code, message = answer.read_error()
        said: Any = {
            "Error": {"Code": code, "Message": message},
            "ResponseMetadata": {"HTTPStatusCode": answer.status},
        }
        raise ClientError(said, operation)

    def send(self, operation: str, body: bytes) -> Answer:
        """Send a request whose body is JSON already; the answer may be an error."""
        if self._credentials is None:
            raise NoCredentialsError
        credentials = self._credentials.get_frozen_credentials()
        now = datetime.now(UTC) + self._skew
        headers = self._signer.sign(credentials, f"{self._target}.{operation}", body, now)
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = KeptConnection(self.endpoint, self.timeouts, self._ca_file)
        try:
            return connection.post(headers, body)
        finally:
            self._idle.append(connection)

    def follow_clock(self, answer: Answer) -> bool:
        """Use the service's clock for signatures from now on; return False if ours was right."""
        try:
            skew = parsedate_to_datetime(answer.headers["date"]) - datetime.now(UTC)
        except (KeyError, ValueError, TypeError):  # missing, not a time, or without a time zone
            return False
        before, self._skew = self._skew, skew
        return abs(self._skew - before) >= _LEAST_SKEW

    def close(self) -> None:
        """Close the idle connections; the next request opens a new one."""
        _close_all(self._idle)


def _close_all(connections: list[KeptConnection]) -> None:
    while connections:
        connections.pop().close()
