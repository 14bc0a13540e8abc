"""What each role has asked for and whether its policies allow it, to trim these by.

POST /_localcloud/list-decisions {"role": "arn:aws:iam::111111111111:role/name"}
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import action

_MOST = 20_000  # keys of objects are many


@dataclass(frozen=True, slots=True)
class Decision:
    """An action on a resource that a role asked for, and whether its own policies allow it."""

    role: str
    action: str
    resource: str | None
    allowed: bool


# Of the process, as roles and policies are.
_decisions: dict[Decision, None] = {}
_lock = threading.Lock()


def note_decision(decision: Decision) -> None:
    """Remember a decision, once; of too many the oldest is forgotten."""
    with _lock:
        _decisions[decision] = None
        if len(_decisions) > _MOST:
            del _decisions[next(iter(_decisions))]


@action("list-decisions")
def list_decisions(cloud: Cloud, *, role: str) -> list[dict[str, Any]]:
    """Show what a role has asked for so far, brokers and other services included, each once."""
    with _lock:
        return [asdict(decision) for decision in _decisions if decision.role == role]
