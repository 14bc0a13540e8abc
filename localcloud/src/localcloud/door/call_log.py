"""The call log: one JSON line per call, without secrets."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import describe
from localcloud.door.operations import Call, HttpAnswer, find_operation
from localcloud.door.services import find_service

_MAX_BYTES = 50_000_000  # then the file is renamed; one old file is kept
_MAX_TEXT = 500

_SECRET = re.compile(
    r"(password|^secret(string|binary|accesskey)|^plaintext|^zipfile|^(session|id|saml)?token"
    r"|samlassertion|privatekey|ssecustomerkey|^ciphertextforrecipient)$",
    re.IGNORECASE,
)
_CODE = re.compile(rb'(?:__type|<Code>|"code")"?\W{0,4}(?:[\w.]+#)?(\w+)')
_HIDDEN = "***"


class CallCounts:
    """The number of calls by account."""

    def __init__(self) -> None:
        self.by_account: Counter[str] = Counter()


@describe("accounts")
def describe_accounts(cloud: Cloud) -> list[dict[str, Any]]:
    """List the accounts that have called or were called into."""
    counts = cloud.state(CallCounts).by_account
    return [{"account": account, "calls": calls} for account, calls in sorted(counts.items())]


class CallLog:
    """The log of all calls, a file of JSON lines that is appended to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._file = path.open("a", buffering=1)

    def write(self, call: Call, answer: HttpAnswer | None, *, seconds: float) -> None:
        """Write the caller, the call, and the answer if there is one."""
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "account": call.account,
            "principal": call.caller.arn,
            "region": call.region,
            "service": call.service,
            "operation": call.operation,
            "parameters": redact(call),
            "status": answer.status if answer else None,
            "error": find_error_code(answer) if answer else "connection cut",
            "ms": round(seconds * 1e3, 1),
            "by": "own" if find_operation(call.service, call.operation) else "moto",
        }
        with self._lock:
            call.cloud.state(CallCounts).by_account[call.owner or call.account] += 1
            if self._file.closed:  # a call that outlived the server
                return
            self._file.write(json.dumps(line, default=str) + "\n")
            if self._file.tell() > _MAX_BYTES:
                self._put_aside()

    def close(self) -> None:
        """Close the file; later calls are not logged."""
        with self._lock:
            self._file.close()

    def _put_aside(self) -> None:
        self._file.close()
        self._path.replace(self._path.with_suffix(".1.jsonl"))
        self._file = self._path.open("a", buffering=1)


def redact(call: Call) -> Any:
    """Return the parameters without secrets."""
    params = dict(call.params)
    if call.service == "lambda" and params.get("Environment"):
        variables = params["Environment"].get("Variables") or {}
        params["Environment"] = {"Variables": dict.fromkeys(variables, _HIDDEN)}
    contents = find_service(call.service).contents.get(call.operation, ())
    params |= {name: _HIDDEN for name in contents if name in params}
    return _show(params)


def find_error_code(answer: HttpAnswer) -> str | None:
    """Return the error code of an error answer, None for a success."""
    if answer.status < 400:
        return None
    told = next((v for k, v in answer.headers if k.lower() == "x-amzn-errortype"), None)
    if told:
        return told.partition(":")[0]
    found = _CODE.search(answer.body)
    return found[1].decode() if found else "unknown"


def _show(value: Any, name: str = "") -> Any:
    if _SECRET.search(name):
        return _HIDDEN
    if isinstance(value, dict):
        return {str(key): _show(member, str(key)) for key, member in value.items()}
    if isinstance(value, list):
        return [_show(member) for member in value]
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, str) and len(value) > _MAX_TEXT:
        return f"{value[:_MAX_TEXT]}... ({len(value)} characters)"
    return value
