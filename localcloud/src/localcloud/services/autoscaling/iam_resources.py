"""How calls of Application Auto Scaling name scalable targets.

Service Authorization Reference, "Actions, resources, and condition keys for AWS Application Auto
Scaling".
"""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.identity.access import Access


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the target of a call, whose id no call but those about tags names."""
    target = f"arn:aws:application-autoscaling:{call.region}:{call.account}:scalable-target/*"
    is_list = call.operation.startswith("Describe")
    yield Access(action, "*" if is_list else call.params.get("ResourceARN", target))
