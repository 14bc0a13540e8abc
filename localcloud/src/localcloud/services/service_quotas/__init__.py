"""Service Quotas: the values of the quotas that localcloud holds; it knows no others."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Service
from localcloud.identity.access import on_everything

SERVICE = Service(
    "service-quotas",
    endpoint="servicequotas",
    throttle=ErrorCode("TooManyRequestsException", 400),
    resources=on_everything,
    operations=("values",),
    signing_names=("servicequotas",),
    prefix="servicequotas",
    ignored={
        "GetServiceQuota": "ContextId",
    },
)
