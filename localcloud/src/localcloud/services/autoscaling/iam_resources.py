"""How calls of Application Auto Scaling name scalable targets, and what it asks of the caller.

Service Authorization Reference, "Actions, resources, and condition keys for AWS Application Auto
Scaling"; its User Guide, "Permissions validation for API calls on target resources": before it
registers a target it puts and deletes an alarm without parameters in the caller's name, and
describes one. That these alarms have an empty name is the assumption `scaling-alarms`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from localcloud.door.operations import Call
from localcloud.identity.access import Access

_THROUGH: Final = {"aws:CalledViaLast": "application-autoscaling.amazonaws.com"}


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the target of a call, whose id no call but those about tags names."""
    target = f"arn:aws:application-autoscaling:{call.region}:{call.account}:scalable-target/*"
    is_list = call.operation.startswith("Describe")
    yield Access(action, "*" if is_list else call.params.get("ResourceARN", target))
    if call.operation == "RegisterScalableTarget":
        alarms = f"arn:aws:cloudwatch:{call.region}:{call.account}:alarm:"
        yield Access("cloudwatch:PutMetricAlarm", alarms, _THROUGH)
        yield Access("cloudwatch:DescribeAlarms", f"{alarms}*", _THROUGH)
        yield Access("cloudwatch:DeleteAlarms", alarms, _THROUGH)
