"""The lease of a scheduled function: only one of its invocations works at a time.

The lease is a row of a table of leases. It needs no heartbeats: Lambda ends an invocation at its
time-out, so a lease lasts until then, and the clocks of Lambda's hosts may differ by the margin.

| attribute   | holds                                                                   |
| ----------- | ----------------------------------------------------------------------- |
| `id`        | the name of the function                                                |
| `holder`    | the invocation that holds the lease; missing if none does               |
| `heldUntil` | the time (seconds since 1970) after which another invocation may take it |
| `expiresAt` | the time when DynamoDB deletes the row (TTL)                            |
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from penstock.errors import SinkError
from penstock.settings import Settings, setting
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.row_reader import RowAddress
from penstock.sinks.row_update import update_row

_LOG = logging.getLogger(__name__)
_MARGIN_SECONDS: Final = 10
_KEPT_SECONDS: Final = 30 * 86_400
_HELD: Final = "holder = :me"
# With `_HELD`, the repetition of a request whose answer was lost succeeds again.
_FREE: Final = f"attribute_not_exists(holder) OR heldUntil < :now OR {_HELD}"
_TAKE: Final = "SET holder = :me, heldUntil = :until, expiresAt = :expires"
_RELEASE: Final = "REMOVE holder, heldUntil"


@dataclass(frozen=True, slots=True)
class FunctionLeaseSettings(Settings):
    """The table of the leases of scheduled functions."""

    table: str = setting(
        "PENSTOCK_LEASES_TABLE",
        "DynamoDB table of leases, so that one invocation of a scheduled function works at a time;"
        " without one, several may",
        default="",
    )


class FunctionLease:
    """The right of an invocation to do a scheduled function's work; without a table, all have it.

    Args:
        table: the table of leases.
        client: what calls DynamoDB.
        clock: the time in seconds since 1970.
    """

    def __init__(
        self,
        table: str,
        client: DynamoDbClient | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._table = table
        self._client = client
        self._clock = clock

    @contextmanager
    def held_during(self, context: Any) -> Iterator[bool]:
        """Hold the lease of a function; the value is False if another invocation holds it.

        Args:
            context: the invocation's, which has the function's name and the time that is left.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: DynamoDB denies the call, or does not
                answer (retriable).
        """
        name, me = context.function_name, uuid4().hex
        is_held = not self._table or self._acquire(name, me, context.get_remaining_time_in_millis())
        try:
            yield is_held
        finally:
            if is_held and self._table:
                self._release(name, me)

    def _acquire(self, name: str, me: str, left_ms: int) -> bool:
        now = int(self._clock())
        until = now + left_ms // 1_000 + _MARGIN_SECONDS
        values = {":me": me, ":now": now, ":until": until, ":expires": now + _KEPT_SECONDS}
        is_held = self._update(name, _TAKE, _FREE, values)
        if not is_held:
            _LOG.warning("another invocation of %s works, so this one does nothing", name)
        return is_held

    def _release(self, name: str, me: str) -> None:
        """Release the lease; if that fails, the lease ends with the time-out of this invocation."""
        try:
            if not self._update(name, _RELEASE, _HELD, {":me": me}):
                _LOG.warning("the lease of %s is not released: it is held no longer", name)
        except SinkError as error:
            _LOG.warning("the lease of %s is not released: %s", name, error)

    def _update(self, name: str, update: str, condition: str, values: Mapping[str, Any]) -> bool:
        self._client = self._client or DynamoDbClient()
        address = RowAddress.of(self._table, {"id": name})
        return update_row(self._client, address, update, condition, values)
