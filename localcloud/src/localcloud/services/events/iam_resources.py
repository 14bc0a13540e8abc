"""How calls of EventBridge name rules and buses.

Service Authorization Reference, "Actions, resources, and condition keys for Amazon EventBridge".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from localcloud.door.operations import Call
from localcloud.identity.access import Access

_OF_RULES: Final = {
    **dict.fromkeys(("DeleteRule", "DescribeRule", "DisableRule", "EnableRule", "PutRule"), "Name"),
    **dict.fromkeys(("ListTargetsByRule", "PutTargets", "RemoveTargets"), "Rule"),
}
_LISTS: Final = frozenset({"ListEventBuses", "ListRuleNamesByTarget", "ListRules"})


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the rule of a call, or its buses; one that is made with tags needs an action more."""
    params = call.params
    start = f"arn:aws:events:{call.region}:{call.account}:"
    if name := _OF_RULES.get(call.operation):
        arn = f"{start}rule/{_name_bus(params.get('EventBusName'))}{params.get(name, '')}"
        yield Access(action, arn)
        if params.get("Tags"):
            yield Access("events:TagResource", arn)
    elif call.operation == "PutEvents":
        buses = dict.fromkeys(
            each.get("EventBusName") or "default" for each in params.get("Entries", [])
        )
        for bus in buses:
            yield Access(action, bus if bus.startswith("arn:") else f"{start}event-bus/{bus}")
    elif call.operation in _LISTS:
        yield Access(action, "*")
    else:
        yield Access(action, params.get("ResourceARN"))


def _name_bus(bus: str | None) -> str:
    """Return what stands before the name of a rule: nothing on the default bus."""
    name = (bus or "default").rpartition("/")[2]
    return "" if name == "default" else f"{name}/"
