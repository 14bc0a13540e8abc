"""S3 Control is moto's."""

from __future__ import annotations

from localcloud.door.service import Moto, Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "s3control",
    endpoint="s3",
    throttle=None,
    resources=by_action,
    signing_names=("s3",),
    claims=lambda request: request.path.startswith("/v20180820/"),
    prefix="s3",
    moto=Moto(
        keeps="TagResource",
        ignores="PutPublicAccessBlock",
    ),
)
