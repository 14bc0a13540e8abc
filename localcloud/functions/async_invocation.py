"""Asynchronous invocations: two retries, then a destination or a dead letter."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from localcloud.destinations import send_dead_letter, send_record
from localcloud.door.errors import AwsError
from localcloud.functions.outcome import Outcome
from localcloud.functions.spec import FunctionSpec

# AWS waits one minute, then two; here the backoff is short.
_RETRY_SECONDS = (1.0, 2.0)


@dataclass(frozen=True, slots=True)
class AsyncSettings:
    """The asynchronous configuration of a function; destinations are ARNs."""

    max_retries: int
    on_success: str | None
    on_failure: str | None
    dead_letters: str | None


def invoke_later(
    spec: FunctionSpec,
    event: bytes,
    settings: AsyncSettings,
    invoke: Callable[[], Outcome],
    open_client: Callable[[str], Any],
) -> None:
    """Invoke in the background; `open_client` makes a client with the function's role."""

    def run() -> None:
        outcome, attempts = _attempt(settings.max_retries, invoke)
        destination = settings.on_failure if outcome.error else settings.on_success
        if destination:
            record = _describe(spec, event, outcome, attempts)
            send_record(open_client, destination, f"async/{spec.name}", record)
        if outcome.error and settings.dead_letters:
            send_dead_letter(open_client, settings.dead_letters, event, _explain(outcome))

    threading.Thread(target=run, name=f"async {spec.name}", daemon=True).start()


def _attempt(max_retries: int, invoke: Callable[[], Outcome]) -> tuple[Outcome, int]:
    attempts = 0
    while True:
        try:
            outcome = invoke()
        except AwsError as error:
            if error.code != "TooManyRequestsException":
                raise
            time.sleep(_RETRY_SECONDS[0])  # throttled: not an attempt, the event waits in the queue
            continue
        attempts += 1
        if not outcome.error or attempts > max_retries:
            return outcome, attempts
        time.sleep(_RETRY_SECONDS[min(attempts, len(_RETRY_SECONDS)) - 1])


def _explain(outcome: Outcome) -> dict[str, str]:
    """Return the attributes of a dead letter, with the first kilobyte of the error's message."""
    message = str(json.loads(outcome.payload or b"{}").get("errorMessage", ""))
    return {
        "RequestID": outcome.request_id,
        "ErrorCode": "200",
        "ErrorMessage": message.encode()[:1024].decode(errors="ignore"),
    }


def _describe(spec: FunctionSpec, event: bytes, outcome: Outcome, attempts: int) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    response = {"statusCode": 200, "executedVersion": spec.version}
    if outcome.function_error:
        response["functionError"] = outcome.function_error
    return {
        "version": "1.0",
        "timestamp": now,
        "requestContext": {
            "requestId": outcome.request_id,
            "functionArn": f"{spec.arn}:{spec.version}",
            "condition": "RetriesExhausted" if outcome.error else "Success",
            "approximateInvokeCount": attempts,
        },
        "requestPayload": json.loads(event or b"{}"),
        "responseContext": response,
        "responsePayload": json.loads(outcome.payload or b"null"),
    }
