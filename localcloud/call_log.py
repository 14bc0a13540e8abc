"""One JSON line per call, without secrets."""

from __future__ import annotations

import json
from pathlib import Path

from localcloud.operations import Call, HttpAnswer


class CallLog:
    """The log of all calls, a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        """Append to `path`."""
        self._file = path.open("a", buffering=1)

    def write(self, call: Call, answer: HttpAnswer, *, seconds: float) -> None:
        """Note who called what, and how it was answered."""
        line = {
            "account": call.account,
            "region": call.region,
            "service": call.service,
            "operation": call.operation,
            "status": answer.status,
            "ms": round(seconds * 1e3, 1),
        }
        self._file.write(json.dumps(line) + "\n")

    def close(self) -> None:
        """Write no more."""
        self._file.close()
