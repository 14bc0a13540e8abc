"""Asynchronous invocations: two retries in six hours, then a destination or a dead letter."""

from __future__ import annotations

import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from localcloud.destinations import send_dead_letter, send_record
from localcloud.door.errors import AwsError
from localcloud.functions.outcome import Outcome
from localcloud.functions.spec import FunctionSpec
from localcloud.metrics import Metric

_log = logging.getLogger(__name__)
# AWS waits one minute, then two; here the backoff is short.
_RETRY_SECONDS = (1.0, 2.0)


@dataclass(frozen=True, slots=True)
class AsyncSettings:
    """The asynchronous configuration of a function; destinations are ARNs."""

    max_retries: int
    max_age_seconds: int
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
        outcome, attempts = _attempt(settings, invoke)
        failed = outcome is None or outcome.error is not None
        destination = settings.on_failure if failed else settings.on_success
        if destination:
            record = _make_record(spec, event, outcome, attempts, settings.max_retries)
            with _reporting(spec, destination, "DestinationDeliveryFailures"):
                send_record(open_client, destination, f"async/{spec.name}", record)
        if failed and settings.dead_letters:
            with _reporting(spec, settings.dead_letters, "DeadLetterErrors"):
                send_dead_letter(open_client, settings.dead_letters, event, _explain(outcome))

    threading.Thread(target=run, name=f"async {spec.name}", daemon=True).start()


@contextmanager
def _reporting(spec: FunctionSpec, target: str, metric: str) -> Iterator[None]:
    """Count and log that a target gets nothing; Lambda sends to the other one all the same."""
    try:
        yield
    except Exception:
        dimensions = {"FunctionName": spec.name}
        Metric(spec.account, spec.region, "AWS/Lambda", metric, dimensions).record(1)
        _log.exception("%s gets nothing of %s", target, spec.arn)


def _attempt(settings: AsyncSettings, invoke: Callable[[], Outcome]) -> tuple[Outcome | None, int]:
    """Invoke until it succeeds, fails too often, or the event is too old.

    Returns:
        the last outcome, None if the event was throttled until it was too old, and the attempts.
    """
    attempts, outcome, ends = 0, None, _clock() + settings.max_age_seconds
    while True:
        try:
            outcome = invoke()
        except AwsError as error:
            if error.code != "TooManyRequestsException":
                raise
            pause = _RETRY_SECONDS[0]  # throttled: not an attempt, the event waits in the queue
        else:
            attempts += 1
            if not outcome.error or attempts > settings.max_retries:
                return outcome, attempts
            pause = _RETRY_SECONDS[min(attempts, len(_RETRY_SECONDS)) - 1]
        if _clock() + pause > ends:
            return outcome, attempts
        time.sleep(pause)


def _clock() -> float:
    return time.monotonic()


def _explain(outcome: Outcome | None) -> dict[str, str]:
    """Return the attributes of a dead letter, with the first kilobyte of the error's message."""
    if outcome is None:
        return {"ErrorCode": "429", "ErrorMessage": "Rate Exceeded."}
    message = str(json.loads(outcome.payload or b"{}").get("errorMessage", ""))
    return {
        "RequestID": outcome.request_id,
        "ErrorCode": "200",
        "ErrorMessage": message.encode()[:1024].decode(errors="ignore"),
    }


def _make_record(
    spec: FunctionSpec, event: bytes, outcome: Outcome | None, attempts: int, max_retries: int
) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    context = {
        "requestId": outcome.request_id if outcome else str(uuid.uuid4()),
        "functionArn": f"{spec.arn}:{spec.version}",
        "condition": "RetriesExhausted" if attempts > max_retries else "EventAgeExceeded",
        "approximateInvokeCount": attempts,
    }
    record = {"version": "1.0", "timestamp": now, "requestContext": context}
    record["requestPayload"] = json.loads(event or b"{}")
    if outcome is None:
        return record
    response = {"statusCode": 200, "executedVersion": spec.version}
    if outcome.function_error:
        response["functionError"] = outcome.function_error
    else:
        context["condition"] = "Success"
    payload = json.loads(outcome.payload or b"null")
    return record | {"responseContext": response, "responsePayload": payload}
