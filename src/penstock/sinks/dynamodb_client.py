"""Calls to DynamoDB with retries.

A request costs a tenth of the CPU of a boto3 client's, which matters at 25 rows per request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from http.client import HTTPException
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from botocore.exceptions import BotoCoreError, ClientError

from penstock.attempts import Attempts
from penstock.aws import Answer, AwsClient, Fault, Service, classify, classify_answer
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

if TYPE_CHECKING:
    from botocore.session import Session

# A table throttles many writers at the same time; jitter keeps their retries apart.
_ATTEMPTS = Attempts(first_seconds=0.05, longest_seconds=2, total_seconds=20, jitter=True)
_OK: Final = 200
_CONCURRENT_CALLS: Final = 25  # a call takes 5 ms, of which 0.2 ms are ours
_Result = TypeVar("_Result")
Body = bytes | Callable[[], bytes]

# The errors of a parser whose input has another shape.
_UNREADABLE = (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError)
_TEMPORARY: Final = {Fault.THROTTLED, Fault.DOWN}
_KINDS: dict[Fault, type[SinkError]] = {
    Fault.DENIED: SinkAccessDeniedError,
    Fault.SKEWED: SinkAccessDeniedError,
    Fault.UNMET: RowExistsError,
    Fault.REFUSED: SinkRefusedError,
}


class _FailedForNowError(Exception):
    """A call that another attempt may make."""


class DynamoDbClient:
    """A client with kept-alive connections, for one thread; the first call connects."""

    def __init__(
        self,
        session: Session | None = None,
        *,
        attempts: Attempts = _ATTEMPTS,
        client: AwsClient | None = None,
    ) -> None:
        try:
            self._client = client or AwsClient(Service.DYNAMODB, session or load_session())
        except (BotoCoreError, ValueError) as error:
            raise SettingsError([f"DynamoDB cannot be used: {error}"]) from error
        self.attempts = attempts

    @overload
    def call(self, operation: str, body: Body) -> dict[str, Any]: ...

    @overload
    def call(
        self, operation: str, body: Body, read: Callable[[dict[str, Any]], _Result]
    ) -> _Result: ...

    def call(self, operation: str, body: Body, read: Callable[[dict[str, Any]], Any] = dict) -> Any:
        """Make a call and return what `read` makes of its response.

        A failure that may be temporary is retried, and so is a response that `read` cannot read.
        A body that is a function is made for each attempt.

        Raises:
            SinkRefusedError: DynamoDB refuses the request itself.
            RowTooLargeError: an item is larger than DynamoDB allows.
            RowExistsError: the condition of a conditional write does not hold.
            SinkAccessDeniedError: no credentials, or these may not make the call (retriable).
            SinkUnavailableError: throttled, down, no such table, no answer (retriable).
        """
        (outcome,) = self._call_together(operation, [body], read)
        if isinstance(outcome, SinkError):
            try:
                raise outcome
            finally:
                del outcome  # the cycle of error, traceback and frame would keep the body in memory
        return outcome

    def call_each(
        self, operation: str, bodies: Iterable[bytes]
    ) -> Iterator[SinkRefusedError | RowExistsError | None]:
        """Make calls, 25 at the same time, and yield the error of each that is refused, else None.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: as `call`; some calls may have been made.
        """
        left = iter(bodies)
        while some := list(islice(left, _CONCURRENT_CALLS)):
            for outcome in self._call_together(operation, some, dict):
                refused = isinstance(outcome, SinkRefusedError | RowExistsError)
                yield outcome if refused else None

    def close(self) -> None:
        """Close the connections; the next call opens others."""
        self._client.close()

    def _call_together(
        self, operation: str, bodies: Sequence[Body], read: Callable[[dict[str, Any]], Any]
    ) -> list[Any]:
        """Return the result of `read` for each response, or the error of a rejected request."""
        outcomes: dict[int, Any] = {}
        for _ in self.attempts:
            left = [place for place in range(len(bodies)) if place not in outcomes]
            try:
                made = [_make_body(bodies[place]) for place in left]
                answers = self._client.send_each(operation, made)
            except (BotoCoreError, ClientError) as error:  # of the credentials
                if classify(error) not in _TEMPORARY:
                    raise SinkAccessDeniedError(f"DynamoDB's {operation}: {error}") from error
                problem = _FailedForNowError(str(error))
                continue
            for place, body, answer in zip(left, made, answers, strict=True):
                try:
                    outcomes[place] = self._read_answer(operation, body, answer, read)
                except _FailedForNowError as error:
                    problem = error.with_traceback(None)
                except (SinkRefusedError, RowExistsError) as error:
                    # The frames of a traceback would keep all requests in memory.
                    outcomes[place] = error.with_traceback(None)
            if len(outcomes) == len(bodies):
                return [outcomes[place] for place in range(len(bodies))]
        raise SinkUnavailableError(
            f"DynamoDB's {operation} failed for {self.attempts.total_seconds:g} s: {problem}"
        ) from problem.__cause__

    def _read_answer(
        self,
        operation: str,
        body: bytes,
        answer: Answer | OSError | HTTPException,
        read: Callable[[dict[str, Any]], Any],
    ) -> Any:
        if not isinstance(answer, Answer):
            raise _FailedForNowError(
                f"no answer from {self._client.endpoint}: {answer!r}"
            ) from answer
        if not answer.is_whole():
            raise _FailedForNowError("an answer with a wrong checksum")
        if answer.status != _OK:
            raise self._find_error(operation, body, answer)
        try:
            return read(answer.read_object())
        except _UNREADABLE as error:
            raise _FailedForNowError(f"an answer that cannot be read: {error!r:.200}") from error

    def _find_error(
        self, operation: str, body: bytes, answer: Answer
    ) -> _FailedForNowError | SinkError:
        code, message = answer.read_error()
        problem = f"{code}: {message}"
        fault = classify_answer(code, answer.status)
        if fault in _TEMPORARY:
            return _FailedForNowError(problem)
        if fault is Fault.SKEWED and self._client.correct_clock(answer):
            return _FailedForNowError(problem)
        if fault is Fault.MISSING:
            problem += (
                f"; expected table {_name_tables(body)} at {self._client.endpoint}; check its "
                "name, the region and the account"
            )
        # An unknown code must not condemn a row.
        kind = _KINDS.get(fault, SinkUnavailableError)
        if kind is SinkRefusedError and message.startswith("KMS "):
            kind = SinkAccessDeniedError  # the table's key is disabled, or will be deleted
        elif kind is SinkRefusedError and "Item size" in message:
            kind = RowTooLargeError
        error = kind(f"DynamoDB's {operation} was refused: {problem}")
        if isinstance(error, RowExistsError):
            error.item = answer.read_object().get("Item")
        return error


def _make_body(body: Body) -> bytes:
    return body if isinstance(body, bytes) else body()


def _name_tables(body: bytes) -> str:
    request = json.loads(body)
    return request.get("TableName") or ", ".join(request["RequestItems"])
