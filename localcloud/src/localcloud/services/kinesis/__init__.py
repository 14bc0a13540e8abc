"""Kinesis Data Streams is moto's."""

from __future__ import annotations

from localcloud.door.service import Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "kinesis",
    endpoint="kinesis-streams",
    throttle=None,
    resources=by_action,
)
