"""The outcome of an invocation, and Lambda's error messages."""

from __future__ import annotations

import json
from dataclasses import dataclass

MAX_PAYLOAD_BYTES = 6 * 1024 * 1024
_MAX_RESPONSE_BYTES = 6_291_556  # AWS allows responses slightly larger than requests


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a function, or Lambda's own; `error` is its type, None for a success."""

    request_id: str
    version: str
    payload: bytes
    error: str | None = None
    log_tail: str = ""

    @property
    def function_error(self) -> str | None:
        """The header X-Amz-Function-Error: today's runtimes have only one value."""
        return "Unhandled" if self.error else None


def describe_timeout(request_id: str, seconds: float) -> tuple[str, bytes]:
    """Return the error of a timeout."""
    return _make_error(
        "Sandbox.Timedout",
        f"RequestId: {request_id} Error: Task timed out after {seconds:.2f} seconds",
    )


def describe_exit(request_id: str, return_code: int) -> tuple[str, bytes]:
    """Return the error of a process that exited or was killed."""
    how = "signal: killed" if return_code < 0 else f"exit status {return_code}"
    return _make_error(
        "Runtime.ExitError", f"RequestId: {request_id} Error: Runtime exited with error: {how}"
    )


def describe_error(body: bytes) -> tuple[str, bytes]:
    """Return an error that the runtime reported; its body goes to the caller unchanged."""
    try:
        kind = json.loads(body).get("errorType")
    except (ValueError, AttributeError):
        kind = None
    return str(kind or "Unhandled"), body


def describe_response(body: bytes) -> tuple[str | None, bytes]:
    """Return what the handler returned, or an error if it is too large."""
    if len(body) <= _MAX_RESPONSE_BYTES:
        return None, body
    return _make_error(
        "Function.ResponseSizeTooLarge",
        "Response payload size exceeded maximum allowed payload size "
        f"({_MAX_RESPONSE_BYTES} bytes).",
    )


def _make_error(kind: str, message: str) -> tuple[str, bytes]:
    return kind, json.dumps({"errorMessage": message, "errorType": kind}).encode()
