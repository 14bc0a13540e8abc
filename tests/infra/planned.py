"""What a plan says: resources, their types, and outputs, as far as somebody wrote them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

UNKNOWN = "(known after apply)"

_INDEX = re.compile(r"\[[^]]*\]")
_OF_A_CASE = re.compile(r"module\.([^.]+)\.module\.this\.(.+)")


@dataclass(frozen=True, slots=True)
class Plan:
    """What Terraform would make: resources by address, and outputs; or why it will not.

    A resource is without what nobody wrote and AWS will make up, such as its id.
    """

    resources: dict[str, dict[str, Any]]
    types: dict[str, str]
    outputs: dict[str, Any]
    errors: tuple[str, ...] = ()


def read_plans(shown: dict[str, Any]) -> dict[str, Plan]:
    """Read what `terraform show -json` says of a plan, by the names of the cases in it.

    A case is a module of the root; its own module `this` is what is tested.
    """
    root = shown["configuration"]["root_module"]
    plans = {name: Plan({}, {}, {}) for name in root["module_calls"]}
    written = _written(root)
    for change in shown.get("resource_changes", []):
        found = _OF_A_CASE.fullmatch(change["address"])
        if found and change["mode"] == "managed":
            name, address = found.groups()
            arguments = written[_INDEX.sub("", change["address"])]
            plans[name].types[address] = change["type"]
            plans[name].resources[address] = {
                argument: value
                for argument, value in _after(change["change"]).items()
                if value != UNKNOWN or argument in arguments
            }
    for name, change in shown.get("output_changes", {}).items():
        plans[name].outputs.update(_after(change))
    return plans


def _written(module: dict[str, Any], place: str = "") -> dict[str, set[str]]:
    """List the arguments that the configuration gives each resource; AWS makes up the others."""
    found = {
        place + resource["address"]: set(resource.get("expressions", {}))
        for resource in module.get("resources", [])
    }
    for name, call in module.get("module_calls", {}).items():
        found |= _written(call["module"], f"{place}module.{name}.")
    return found


def _after(change: dict[str, Any]) -> Any:
    return _with_unknown(change.get("after"), change.get("after_unknown", False))


def _with_unknown(value: Any, unknown: Any) -> Any:
    """Put a text in the place of each value that is known after apply only."""
    if unknown is True:
        return UNKNOWN
    if isinstance(unknown, dict):
        known = value or {}
        names = [*known, *(name for name in unknown if name not in known)]
        return {name: _with_unknown(known.get(name), unknown.get(name)) for name in names}
    if isinstance(unknown, list):
        known_items = value or []
        return [
            _with_unknown(known_items[i] if i < len(known_items) else None, item)
            for i, item in enumerate(unknown)
        ]
    return value
