"""The eight compatibility modes of a Glue schema."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from penstock.schemas.compatibility import Incompatibility, check_compatibility
from penstock.schemas.definition import Schema


class Compatibility(StrEnum):
    """What a registry demands of a new version of a schema."""

    NONE = "NONE"
    DISABLED = "DISABLED"
    BACKWARD = "BACKWARD"
    BACKWARD_ALL = "BACKWARD_ALL"
    FORWARD = "FORWARD"
    FORWARD_ALL = "FORWARD_ALL"
    FULL = "FULL"
    FULL_ALL = "FULL_ALL"


def check_mode(
    new: Schema, earlier: Sequence[Schema], mode: Compatibility
) -> tuple[Incompatibility, ...]:
    """Say why the mode refuses a new version after the earlier ones (oldest first).

    The _ALL modes compare with every earlier version, the others with the last one given. From
    which version on it compares is for the registry to say: it passes those.
    """
    if mode is Compatibility.NONE or not earlier:
        return ()
    if mode is Compatibility.DISABLED:
        message = f"compatibility is {mode}, so the schema takes no new version"
        return (Incompatibility("VERSIONS_DISABLED", "", message),)
    direction = mode.removesuffix("_ALL")
    found: dict[Incompatibility, None] = {}
    for old in earlier if mode.endswith("_ALL") else earlier[-1:]:
        if direction != Compatibility.FORWARD:
            found |= dict.fromkeys(check_compatibility(reader=new, writer=old))
        if direction != Compatibility.BACKWARD:
            found |= dict.fromkeys(check_compatibility(reader=old, writer=new))
    return tuple(found)
