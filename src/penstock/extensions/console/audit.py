"""The audit log: a line of JSON before each command that changes something, and one after it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock.errors import OperationError


@dataclass(frozen=True, slots=True)
class AuditLog:
    """A file that only its owner may read, and that is only added to."""

    path: Path

    def add(self, command: str, **about: Any) -> None:
        """Add a line.

        Raises:
            OperationError: the file cannot be written, so the command must not run.
        """
        line = {"when": datetime.now(UTC).isoformat(), "command": command, **about}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            with os.fdopen(os.open(self.path, flags, 0o600), "a") as file:
                file.write(f"{json.dumps(line)}\n")
        except OSError as error:
            raise OperationError(
                f"the audit log {self.path} cannot be written: {error.strerror}"
            ) from error
