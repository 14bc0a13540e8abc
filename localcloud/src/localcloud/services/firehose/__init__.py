"""Firehose is moto's."""

from __future__ import annotations

from localcloud.door.service import Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "firehose",
    endpoint="kinesis-firehose",
    throttle=None,
    resources=by_action,
)
