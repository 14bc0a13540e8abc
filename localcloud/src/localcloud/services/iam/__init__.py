"""IAM is moto's; here are the quotas of policies that moto lacks."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "iam",
    endpoint=None,
    throttle=ErrorCode("Throttling", 400),
    resources=by_action,
    operations=("policy_quotas",),
    one_at_a_time=True,
)
