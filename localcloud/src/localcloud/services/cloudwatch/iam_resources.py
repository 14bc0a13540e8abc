"""How calls of CloudWatch name alarms and dashboards.

Service Authorization Reference, "Actions, resources, and condition keys for Amazon CloudWatch".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from localcloud.door.operations import Call
from localcloud.identity.access import Access

_LISTS: Final = frozenset(
    {
        *("GetMetricData", "GetMetricStatistics", "ListDashboards"),
        *("ListMetrics", "PutMetricData"),
    }
)


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the alarms or dashboards of a call; one that names no alarm is about all."""
    params = call.params
    alarms = f"arn:aws:cloudwatch:{call.region}:{call.account}:alarm:"
    dashboards = f"arn:aws:cloudwatch::{call.account}:dashboard/"
    if call.operation in _LISTS:
        yield Access(action, "*")
    elif "Dashboard" in call.operation:
        names = params.get("DashboardNames") or [params.get("DashboardName", "")]
        yield from (Access(action, f"{dashboards}{each}") for each in names)
    elif arn := params.get("ResourceARN"):
        yield Access(action, arn)
    else:
        names = params.get("AlarmNames") or [params.get("AlarmName") or "*"]
        yield from (Access(action, f"{alarms}{each}") for each in names)
        if call.operation == "PutMetricAlarm" and params.get("Tags"):
            yield Access("cloudwatch:TagResource", f"{alarms}{names[0]}")
