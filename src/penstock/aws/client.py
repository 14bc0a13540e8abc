"""A client for AWS services that speak JSON; it uses botocore only for credentials and endpoints.

A botocore client is built from the whole model of a service, checks each request against the model
and converts each answer to its types. We make only a dozen kinds of requests.
"""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import Enum
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, CredentialRetrievalError, NoCredentialsError

from penstock.aws._address import find_address
from penstock.aws.connection import Answer, KeptConnection, Timeouts
from penstock.aws.signature import Signer

if TYPE_CHECKING:
    from botocore.session import Session

_OK = 200
_TIMEOUTS = Timeouts()
# AWS accepts a clock skew of up to five minutes; a smaller skew than this is not the cause.
_LEAST_SKEW = timedelta(minutes=1)
_LEAST_SECONDS = 0.01  # for an answer that is there; zero would be no waiting socket


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
        with _translated_renewal():
            self._credentials = session.get_credentials()
        self._ca_file = session.get_config_variable("ca_bundle")
        self.timeouts = timeouts
        self._idle: list[KeptConnection] = []
        weakref.finalize(self, _close_all, self._idle)  # few users close a client
        self._skew = self._signed_skew = timedelta()

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Call an operation, without retries, and return its answer.

        Raises:
            ClientError: the service answered with an error, in the form of botocore's clients, or
                STS refused the role.
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
        """Send a request whose body is JSON already; the answer may be an error.

        Raises:
            BotoCoreError: there are no credentials.
            ClientError: STS refused the role.
            OSError, HTTPException: there was no answer.
        """
        (answer,) = self.send_each(operation, [body])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def send_each(
        self, operation: str, bodies: Sequence[bytes]
    ) -> list[Answer | OSError | HTTPException]:
        """Send requests on a connection each, then read their answers: together they take as long
        as one of them.

        A request without an answer has an error in the list. After one that could not be sent, the
        others are not sent either.

        Raises:
            BotoCoreError: there are no credentials.
            ClientError: STS refused the role.
        """
        if self._credentials is None:
            raise NoCredentialsError
        with _translated_renewal():
            credentials = self._credentials.get_frozen_credentials()
        self._signed_skew = self._skew
        now = datetime.now(UTC) + self._signed_skew
        target = f"{self._target}.{operation}"
        held = [self._acquire() for _ in bodies]
        try:
            unsent: OSError | HTTPException | None = None
            sent: list[KeptConnection] = []
            for connection, body in zip(held, bodies, strict=True):
                headers = self._signer.sign(credentials, target, body, now)
                try:
                    connection.send(headers, body)
                except (OSError, HTTPException) as error:
                    unsent = error
                    break
                sent.append(connection)
            until = time.monotonic() + self.timeouts.read_seconds
            answers = [_receive(connection, until) for connection in sent]
            return answers + [unsent] * (len(held) - len(sent)) if unsent else answers
        except BaseException:
            _close_all(held)  # an answer that was not read must not be taken for another's
            raise
        finally:
            self._idle += held

    def _acquire(self) -> KeptConnection:
        try:
            return self._idle.pop()
        except IndexError:
            return KeptConnection(self.endpoint, self.timeouts, self._ca_file)

    def correct_clock(self, answer: Answer) -> bool:
        """Use the service's clock for signatures from now on; return False if ours was right."""
        try:
            skew = parsedate_to_datetime(answer.headers["date"]) - datetime.now(UTC)
        except (KeyError, ValueError, TypeError):  # missing, not a time, or without a time zone
            return False
        self._skew = skew
        return abs(skew - self._signed_skew) >= _LEAST_SKEW

    def close(self) -> None:
        """Close the idle connections; the next request opens a new one."""
        _close_all(self._idle)


@contextmanager
def _translated_renewal() -> Iterator[None]:
    """Translate what botocore raises for expired credentials and a program that has none to give.

    Raises:
        CredentialRetrievalError: there are no valid credentials.
    """
    try:
        yield
    except (RuntimeError, OSError) as error:
        raise CredentialRetrievalError(provider="AWS", error_msg=str(error)) from error


def _receive(connection: KeptConnection, until: float) -> Answer | OSError | HTTPException:
    try:
        return connection.receive(max(until - time.monotonic(), _LEAST_SECONDS))
    except (OSError, HTTPException) as error:
        return error


def _close_all(connections: list[KeptConnection]) -> None:
    while connections:
        connections.pop().close()
