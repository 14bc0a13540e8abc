"""The Resource Groups Tagging API is moto's."""

from __future__ import annotations

from localcloud.door.service import Moto, Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "resourcegroupstaggingapi",
    endpoint="tagging",
    throttle=None,
    resources=by_action,
    signing_names=("tagging",),
    prefix="tag",
    moto=Moto(
        keeps="TagResources",
    ),
)
