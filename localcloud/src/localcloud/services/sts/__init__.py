"""STS: role sessions, by their trust policies."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Service

SERVICE = Service(
    "sts",
    endpoint="sts",
    throttle=ErrorCode("Throttling", 400),
    # Only AssumeRole needs permission, and the trust policy decides on that too.
    resources=lambda _call, _action: (),
    operations=("sessions",),
    ignored={
        "AssumeRole": "MinimumSessionTokenSize SerialNumber TokenCode",
        "GetSessionToken": "MinimumSessionTokenSize SerialNumber TokenCode",
    },
)
