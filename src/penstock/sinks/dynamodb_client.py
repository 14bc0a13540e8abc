"""Calls to DynamoDB with retries.

A request costs a tenth of the CPU of a boto3 client's, which matters at 25 rows per request.
"""

from __future__ import annotations

from collections.abc import Callable
from http.client import HTTPException
from typing import Any, TypeVar, overload

from botocore.exceptions import BotoCoreError
from botocore.session import Session

from penstock.attempts import Attempts
from penstock.aws import Answer, AwsClient, Fault, Service, classify_answer
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

# A table throttles many writers at the same time; jitter (`spread`) keeps their retries apart.
_ATTEMPTS = Attempts(first_seconds=0.05, longest_seconds=2, total_seconds=20, spread=True)
_Result = TypeVar("_Result")

# The errors of a parser whose input has another shape.
_UNREADABLE = (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError)
_KINDS: dict[Fault, type[SinkError]] = {
    Fault.DENIED: SinkAccessDeniedError,
    Fault.SKEWED: SinkAccessDeniedError,
    Fault.UNMET: RowExistsError,
    Fault.REFUSED: SinkRefusedError,
}


class DynamoDbClient:
    """A client with one kept-alive connection, for one thread; the first call connects."""

    def __init__(self, session: Session | None = None, *, attempts: Attempts = _ATTEMPTS) -> None:
        try:
            self._client = AwsClient(Service.DYNAMODB, session or load_session())
        except BotoCoreError as error:
            raise SettingsError([f"DynamoDB cannot be used: {error}"]) from error
        self.attempts = attempts

    @overload
    def call(self, operation: str, body: bytes) -> dict[str, Any]: ...

    @overload
    def call(
        self, operation: str, body: bytes, read: Callable[[dict[str, Any]], _Result]
    ) -> _Result: ...

    def call(
        self, operation: str, body: bytes, read: Callable[[dict[str, Any]], Any] = dict
    ) -> Any:
        """Make a call and return what `read` makes of its response.

        A failure that may be temporary is retried, and so is a response that `read` cannot read.

        Raises:
            SinkRefusedError: DynamoDB refuses the request itself.
            RowTooLargeError: an item is larger than DynamoDB allows.
            RowExistsError: the condition of a conditional write does not hold.
            SinkAccessDeniedError: no credentials, or these may not make the call (retriable).
            SinkUnavailableError: throttled, down, no such table, no answer (retriable).
        """
        cause: Exception | None = None
        for _ in self.attempts:
            try:
                answer = self._client.send(operation, body)
            except (OSError, HTTPException) as error:
                cause, problem = error, f"no answer from {self._client.endpoint}: {error!r}"
                continue
            except BotoCoreError as error:
                raise SinkAccessDeniedError(f"DynamoDB's {operation}: {error}") from error
            cause = None
            if not answer.is_whole():
                problem = "an answer with a wrong checksum"
            elif answer.status == 200:
                try:
                    return read(answer.read_object())
                except _UNREADABLE as error:
                    cause, problem = error, f"an answer that cannot be read: {error!r:.200}"
            else:
                problem = self._judge(operation, answer)
        raise SinkUnavailableError(
            f"DynamoDB's {operation} failed for {self.attempts.total_seconds:g} s: {problem}"
        ) from cause

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        self._client.close()

    def _judge(self, operation: str, answer: Answer) -> str:
        """Return the problem if a retry may succeed, and raise it otherwise."""
        code, message = answer.read_error()
        problem = f"{code}: {message}"
        fault = classify_answer(code, answer.status)
        if fault in {Fault.THROTTLED, Fault.DOWN}:
            return problem
        if fault is Fault.SKEWED and self._client.follow_clock(answer):
            return problem
        # An unknown code must not condemn a row.
        kind = _KINDS.get(fault, SinkUnavailableError)
        if kind is SinkRefusedError and "Item size" in message:
            kind = RowTooLargeError
        raise kind(f"DynamoDB's {operation} was refused: {problem}")
