"""The operation Invoke: synchronous, asynchronous or as a dry run."""

from __future__ import annotations

import base64
import json
import uuid

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.functions import (
    MAX_PAYLOAD_BYTES,
    AsyncSettings,
    FunctionSpec,
    Outcome,
    invoke_later,
)
from localcloud.services.lambda_.dead_letters import DeadLetters
from localcloud.services.lambda_.event_invoke_configs import settings_of
from localcloud.services.lambda_.execution import find_function, open_client, run_function
from localcloud.services.lambda_.snapshots import check_ready

_MAX_ASYNC_BYTES = 1024 * 1024
_ASYNC_RETRIES, _ASYNC_SECONDS = 2, 6 * 3_600


@operation("lambda", "Invoke")
def invoke(call: Call) -> HttpAnswer:
    """Run a function."""
    spec = find_function(call)
    check_ready(call.cloud, spec)
    kind = call.params.get("InvocationType", "RequestResponse")
    event = _read_event(call, kind)
    request_id = str(uuid.uuid4())
    if kind == "DryRun":
        return HttpAnswer(204, (), b"")
    if kind == "Event":
        invoke_later(
            spec,
            event,
            _read_settings(call, spec),
            lambda: run_function(call.cloud, spec, event, request_id),
            lambda service: open_client(call.cloud, spec, service),
        )
        return HttpAnswer(202, (("x-amzn-RequestId", request_id),), b"")
    outcome = run_function(call.cloud, spec, event, request_id)
    return _answer(outcome, tail=call.params.get("LogType") == "Tail")


def _read_event(call: Call, kind: str) -> bytes:
    payload = call.params.get("Payload") or b"{}"
    event = payload.encode() if isinstance(payload, str) else bytes(payload)
    limit = _MAX_ASYNC_BYTES if kind == "Event" else MAX_PAYLOAD_BYTES
    if len(event) > limit:
        raise AwsError(
            "RequestTooLargeException",
            f"{len(event)} byte payload is too large for the {kind} invocation type "
            f"(limit {limit} bytes)",
        )
    try:
        json.loads(event)
    except (ValueError, RecursionError) as error:  # how deep AWS reads is not documented
        raise AwsError(
            "InvalidRequestContentException",
            f"Could not parse request body into json: {error}",
        ) from error
    return event


def _answer(outcome: Outcome, *, tail: bool) -> HttpAnswer:
    headers = {
        "Content-Type": "application/json",
        "x-amzn-RequestId": outcome.request_id,
        "X-Amz-Executed-Version": outcome.version,
    }
    if outcome.function_error:
        headers["X-Amz-Function-Error"] = outcome.function_error
    if tail:
        headers["X-Amz-Log-Result"] = base64.b64encode(outcome.log_tail.encode()).decode()
    return HttpAnswer(200, tuple(headers.items()), outcome.payload)


def _read_settings(call: Call, spec: FunctionSpec) -> AsyncSettings:
    """Return the configuration of the version or alias, and the function's dead-letter target."""
    dead_letters = call.cloud.state(DeadLetters, spec.account, spec.region).targets
    config = settings_of(call)
    destinations = config.get("DestinationConfig", {})
    return AsyncSettings(
        max_retries=config.get("MaximumRetryAttempts", _ASYNC_RETRIES),
        max_age_seconds=config.get("MaximumEventAgeInSeconds", _ASYNC_SECONDS),
        on_success=destinations.get("OnSuccess", {}).get("Destination"),
        on_failure=destinations.get("OnFailure", {}).get("Destination"),
        dead_letters=dead_letters.get(spec.name),
    )
