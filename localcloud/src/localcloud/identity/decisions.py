"""The decisions on what each role requested, for reducing its policies.

POST /_localcloud/list-decisions {"role": "arn:aws:iam::111111111111:role/name"}
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import action

_MOST = 20_000  # object keys are many


@dataclass(frozen=True, slots=True)
class Decision:
    """An action on a resource that a role requested, and whether its own policies allow it."""

    role: str
    action: str
    resource: str | None
    allowed: bool


# Global to the process, like roles and policies.
_decisions: dict[Decision, None] = {}
_lock = threading.Lock()


def note_decision(decision: Decision) -> None:
    """Store a decision once; beyond 20,000 the oldest is dropped."""
    with _lock:
        _decisions[decision] = None
        if len(_decisions) > _MOST:
            del _decisions[next(iter(_decisions))]


@action("list-decisions")
def list_decisions(cloud: Cloud, *, role: str) -> list[dict[str, Any]]:
    """List what a role has requested so far, also from brokers and other services, each once."""
    with _lock:
        return [asdict(decision) for decision in _decisions if decision.role == role]
