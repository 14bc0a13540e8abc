"""Queries of Athena with bounded waits, and tables of the Glue catalog."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from penstock.attempts import Attempts
from penstock.aws.client import AwsClient, Service
from penstock.aws.errors import Fault, classify, classify_answer
from penstock.credentials import load_session
from penstock.errors import (
    OperationError,
    SettingsError,
    SinkAccessDeniedError,
    SinkError,
    SinkUnavailableError,
)

if TYPE_CHECKING:
    from botocore.session import Session

_LOG = logging.getLogger(__name__)
_ATTEMPTS: Final = Attempts(first_seconds=0.2, longest_seconds=5, total_seconds=60, jitter=True)
_SCAN_LIMIT: Final = "Bytes scanned limit"
_OPEN: Final = ("QUEUED", "RUNNING")

QueryRow = Mapping[str, str | None]


def quote_identifier(parts: Iterable[str]) -> str:
    """Return an identifier of Athena's SQL, such as a table, whose parts may have any characters.

    Args:
        parts: its names from the outside in: database and table, or column and fields.
    """
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


class _MissingError(OperationError):
    """A table that is not there."""


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The rows of a query by the names of its columns, and what the query cost."""

    id: str
    rows: tuple[QueryRow, ...]
    scanned_bytes: int
    milliseconds: int


class Athena:
    """A work group of Athena.

    Each query may take `wait_seconds`, and all together `total_seconds` from now; one that takes
    longer is stopped.
    """

    def __init__(
        self,
        workgroup: str,
        wait_seconds: float,
        session: Session | None = None,
        *,
        total_seconds: float = math.inf,
        attempts: Attempts = _ATTEMPTS,
    ) -> None:
        self._workgroup = workgroup
        self._waits = Attempts(0.2, 5, wait_seconds)
        self._total_seconds = total_seconds
        self._deadline = self._waits.clock() + total_seconds
        self._attempts = attempts
        session = session or load_session()
        try:
            self._athena = AwsClient(Service.ATHENA, session)
            self._glue = AwsClient(Service.GLUE, session)
        except (BotoCoreError, ValueError) as error:
            raise SettingsError([f"Athena cannot be used: {error}"]) from error

    def find_table(self, name: str) -> dict[str, Any]:
        """Return a table DATABASE.TABLE of the catalog.

        Raises:
            OperationError: there is no such table.
            SinkAccessDeniedError, SinkUnavailableError: Glue denies the call, or does not answer.
        """
        database, _, table = name.partition(".")
        found = self._call(self._glue, "GetTable", {"DatabaseName": database, "Name": table})
        table_: dict[str, Any] = found["Table"]
        return table_

    def has_table(self, name: str) -> bool:
        """Return whether the catalog has a table DATABASE.TABLE.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: see `find_table`.
        """
        try:
            self.find_table(name)
        except _MissingError:
            return False
        return True

    def ask(self, sql: str, database: str) -> QueryAnswer:
        """Run a query and return its answer.

        Raises:
            OperationError: the query fails, or would scan more than the work group allows.
            SinkAccessDeniedError: the caller may not use the work group.
            SinkUnavailableError: Athena does not answer, or the query takes too long.
        """
        request = {
            "ClientRequestToken": str(uuid4()),
            "QueryExecutionContext": {"Database": database},
            "QueryString": sql,
            "WorkGroup": self._workgroup,
        }
        query = str(self._call(self._athena, "StartQueryExecution", request)["QueryExecutionId"])
        found = self._wait_for_end(query)
        statistics = found.get("Statistics", {})
        return QueryAnswer(
            query,
            self._read_rows(query),
            int(statistics.get("DataScannedInBytes", 0)),
            int(statistics.get("TotalExecutionTimeInMillis", 0)),
        )

    def _wait_for_end(self, query: str) -> dict[str, Any]:
        asked = {"QueryExecutionId": query}
        left = max(0, self._deadline - self._waits.clock())
        waits = replace(self._waits, total_seconds=min(self._waits.total_seconds, left))
        is_over = False
        try:
            for _ in waits:
                found: dict[str, Any] = self._call(self._athena, "GetQueryExecution", asked)
                execution: dict[str, Any] = found["QueryExecution"]
                if execution["Status"]["State"] not in _OPEN:
                    is_over = True
                    self._check(query, execution["Status"])
                    return execution
        finally:
            if not is_over:  # too late, or interrupted: nobody waits for its result
                self._stop(query)
        told = f"Athena's query {query} did not end within {waits.total_seconds:.0f} s"
        if waits != self._waits:
            told += f", which were left of {self._total_seconds:.0f} s for all queries together"
        raise SinkUnavailableError(f"{told}, so it was stopped")

    def _stop(self, query: str) -> None:
        """Try once to stop a query; that it cannot be stopped hides no other error."""
        asked = {"QueryExecutionId": query}
        try:
            self._call(self._athena, "StopQueryExecution", asked, seconds=0)
        except (OperationError, SinkError) as error:
            _LOG.warning("Athena's query %s goes on: %s", query, error)

    def _check(self, query: str, status: Mapping[str, Any]) -> None:
        if status["State"] == "SUCCEEDED":
            return
        reason = str(status.get("StateChangeReason", "no reason")).rstrip(".")
        if _SCAN_LIMIT in reason:
            raise OperationError(
                f"Athena's query {query} would scan more than the limit of the work group "
                f"{self._workgroup}, expected less: check fewer days (--since of penstock "
                "quality), or raise the limit"
            )
        raise OperationError(f"Athena's query {query} is {status['State']}: {reason}")

    def _read_rows(self, query: str) -> tuple[QueryRow, ...]:
        lines: list[list[str | None]] = []
        token: dict[str, str] = {}
        while True:
            asked = {"QueryExecutionId": query, **token}
            page = self._call(self._athena, "GetQueryResults", asked)
            lines += [
                [cell.get("VarCharValue") for cell in row["Data"]]
                for row in page["ResultSet"]["Rows"]
            ]
            if "NextToken" not in page:
                break
            token = {"NextToken": page["NextToken"]}
        names = [str(name) for name in lines[0]]  # the first row of the first page
        return tuple(dict(zip(names, line, strict=True)) for line in lines[1:])

    def _call(
        self,
        client: AwsClient,
        operation: str,
        request: Mapping[str, Any],
        seconds: float = math.inf,
    ) -> dict[str, Any]:
        """Make a call, and retry failures that may be temporary, while the queries have time."""
        body = json.dumps(request).encode()
        cause: Exception | None = None
        left = max(0, self._deadline - self._waits.clock())
        most = min(self._attempts.total_seconds, left, seconds)
        for _ in replace(self._attempts, total_seconds=most):
            try:
                answer = client.send(operation, body)
            except (OSError, HTTPException) as error:
                cause, problem = error, f"no answer from {client.endpoint}: {error!r}"
                continue
            except (BotoCoreError, ClientError) as error:
                if classify(error) not in {Fault.THROTTLED, Fault.DOWN}:
                    raise SinkAccessDeniedError(f"{operation}: {error}") from error
                cause, problem = error, str(error)
                continue
            if answer.status == 200:
                return answer.read_object()
            code, message = answer.read_error()
            cause, problem = None, f"{code}: {message.rstrip('.')}"
            fault = classify_answer(code, answer.status)
            if fault is Fault.DENIED:
                raise SinkAccessDeniedError(f"{operation} was denied: {problem}")
            skewed = fault is Fault.SKEWED and client.correct_clock(answer)
            if fault is Fault.MISSING:
                raise _MissingError(f"{operation} was refused: {problem}")
            if not skewed and fault not in {Fault.THROTTLED, Fault.DOWN}:
                raise OperationError(f"{operation} was refused: {problem}")
        raise SinkUnavailableError(f"{operation} failed for {most:.0f} s: {problem}") from cause
