"""Firehose: nothing here delivers, so nothing can be made."""

from __future__ import annotations

from localcloud.door.service import Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "firehose",
    endpoint="kinesis-firehose",
    throttle=None,
    resources=by_action,
)
