"""What a plan says: resources, their types, and outputs, as far as somebody wrote them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

UNKNOWN = "(known after apply)"

_INDEX = re.compile(r"\[[^]]*\]")
_PLACE = "module.this."


@dataclass(frozen=True, slots=True)
class Plan:
    """What Terraform would make: resources by address, and outputs; or why it will not.

    Of an example there is nothing but the errors.
    A resource is without what nobody wrote and AWS will make up, such as its id.
    """

    resources: dict[str, dict[str, Any]]
    types: dict[str, str]
    outputs: dict[str, Any]
    errors: tuple[str, ...] = ()


def read_plan(shown: dict[str, Any]) -> Plan:
    """Read what `terraform show -json` says of a plan."""
    changes = {
        change["address"].removeprefix(_PLACE): change
        for change in shown.get("resource_changes", [])
        if change["mode"] == "managed" and change["type"] != "terraform_data"
    }
    outputs = shown.get("output_changes", {})
    written = _written(shown["configuration"]["root_module"])
    return Plan(
        {
            address: {
                name: value
                for name, value in _after(change["change"]).items()
                if value != UNKNOWN or name in written[_INDEX.sub("", change["address"])]
            }
            for address, change in changes.items()
        },
        {address: change["type"] for address, change in changes.items()},
        {name: _after(change) for name, change in outputs.items()},
    )


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
