"""Step Functions: nothing here executes, so nothing can be made."""

from __future__ import annotations

from localcloud.door.service import Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "stepfunctions",
    endpoint="states",
    throttle=None,
    resources=by_action,
    signing_names=("states",),
    prefix="states",
)
