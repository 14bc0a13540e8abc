"""EventBridge Scheduler: schedules that invoke functions and call operations when due."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, Service
from localcloud.identity.access import Access, arn_of, role_in


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the schedule or the group of a call."""
    name, arn = call.params.get("Name"), call.params.get("ResourceArn")
    if call.operation.startswith("List") and arn is None:
        yield Access(action, "*")
    elif call.operation.endswith("ScheduleGroup"):
        yield Access(action, arn_of(call, f"schedule-group/{name}"))
    else:
        group = call.params.get("GroupName", "default")
        yield Access(action, arn or arn_of(call, f"schedule/{group}/{name}"))


SERVICE = Service(
    "scheduler",
    endpoint="scheduler",
    throttle=ErrorCode("ThrottlingException", 429),
    resources=list_resources,
    operations=("groups", "schedules"),
    passed_roles=role_in(
        ("Target", "RoleArn"), "scheduler.amazonaws.com", "CreateSchedule", "UpdateSchedule"
    ),
    status=("schedules",),
    ignored={
        "CreateSchedule": "Description",
        "UpdateSchedule": "Description",
    },
)
