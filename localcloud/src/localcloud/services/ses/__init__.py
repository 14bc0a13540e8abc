"""Simple Email Service: nothing here sends, so nothing can be made."""

from __future__ import annotations

from localcloud.door.service import Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "ses",
    endpoint="email",
    throttle=None,
    resources=by_action,
    signing_names=("email",),
)
