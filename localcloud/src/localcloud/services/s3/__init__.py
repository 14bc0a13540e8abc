"""S3 is moto's, except for notifications that it may not deliver."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Service
from localcloud.services.s3.iam_resources import list_resources

SERVICE = Service(
    "s3",
    endpoint="s3",
    throttle=ErrorCode("SlowDown", 503),
    resources=list_resources,
    operations=("notifications",),
    signing_names=("s3", "s3express"),
    one_at_a_time=True,
)
