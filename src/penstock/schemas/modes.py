"""The eight compatibility modes of a Glue schema."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from penstock.schemas.compatibility import Incompatibility, check_compatibility
from penstock.schemas.definition import Schema


class Compatibility(StrEnum):
    """A registry's rule for new versions of a schema."""

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
    """Return the reasons why the mode rejects a new version after the earlier ones, oldest first.

    The _ALL modes compare with every earlier version, the other modes with the last one given.
    The registry decides where the comparison starts: it passes only the versions from there on.
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
