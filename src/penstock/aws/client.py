"""A service that takes and gives JSON: botocore's credentials, and nothing else of it.

botocore's client of a service is built from the service's whole model, checks each request against
it and turns each answer into its types. We make a dozen kinds of requests.
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
# AWS takes signatures of up to five minutes off; less than this was not what it refused.
_LEAST_SKEW = timedelta(minutes=1)


class Service(Enum):
    """A service's name in addresses and signatures, and how its requests name an operation."""

    DYNAMODB = ("dynamodb", "DynamoDB_20120810", "1.0")
    GLUE = ("glue", "AWSGlue", "1.1")

    def __init__(self, label: str, target: str, json_version: str) -> None:
        """Keep them."""
        self.label = label
        self.target = target
        self.json_version = json_version


class AwsClient:
    """Requests to one service, from any number of threads, over as many kept connections."""

    def __init__(
        self,
        service: Service,
        session: Session,
        *,
        endpoint: str | None = None,
        timeouts: Timeouts = _TIMEOUTS,
    ) -> None:
        """Find out where the service is and who we are; nothing is called yet.

        Raises:
            BotoCoreError, ValueError: no region, or an address that cannot be.
        """
        self.endpoint, region = find_address(session, service.label, endpoint)
        self._signer = Signer(service.label, self.endpoint, region, service.json_version)
        self._target = service.target
        self._credentials = session.get_credentials()
        self._ca_file = session.get_config_variable("ca_bundle")
        self.timeouts = timeouts
        self._idle: list[KeptConnection] = []
        weakref.finalize(self, _close_all, self._idle)  # few who are given one end it
        self._skew = timedelta()

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for an operation, once, and give what it answers.

        Raises:
            ClientError: the service says no, as botocore's clients say it.
            BotoCoreError: there are no credentials.
            OSError, HTTPException: there was no answer.
            ValueError: it is no JSON.
        """
        answer = self.send(operation, json.dumps(request).encode())
        if answer.status == _OK:
            return dict(json.loads(answer.content))
        code, message = answer.read_error()
        said: Any = {
            "Error": {"Code": code, "Message": message},
            "ResponseMetadata": {"HTTPStatusCode": answer.status},
        }
        raise ClientError(said, operation)

    def send(self, operation: str, body: bytes) -> Answer:
        """Send a request whose JSON is written already; what comes back may be a refusal."""
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
        """Take the service's clock for the signatures from now on; False if ours was right."""
        try:
            theirs = parsedate_to_datetime(answer.headers["date"])
        except (KeyError, ValueError):
            return False
        before, self._skew = self._skew, theirs - datetime.now(UTC)
        return abs(self._skew - before) >= _LEAST_SKEW

    def close(self) -> None:
        """Close the connections that nobody uses; the next request opens another."""
        _close_all(self._idle)


def _close_all(connections: list[KeptConnection]) -> None:
    while connections:
        connections.pop().close()
