"""Lake Formation: permissions on the Glue catalog beside IAM's."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Service
from localcloud.identity.access import on_everything, role_in

SERVICE = Service(
    "lakeformation",
    endpoint="lakeformation",
    throttle=ErrorCode("ThrottledException", 429),
    resources=on_everything,
    operations=("filters", "grants", "locations", "settings"),
    passed_roles=role_in(
        ("RoleArn",), "lakeformation.amazonaws.com", "RegisterResource", "UpdateResource"
    ),
    ignored={
        "ListPermissions": "IncludeRelated ResourceType",
        "ListResources": "FilterConditionList",
        "RegisterResource": (
            "ExpectedResourceOwnerAccount UseServiceLinkedRole WithPrivilegedAccess"
        ),
        "UpdateResource": "ExpectedResourceOwnerAccount",
    },
)
