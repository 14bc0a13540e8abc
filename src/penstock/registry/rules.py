"""The versions that a registry compares a new version with, and the result.

AWS's documentation allows two readings: a new version is compared with the checkpoint (by default
the first version), or with the version before it. Both are implemented; the default, and the
strictest, is to apply both.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from penstock.schemas import Compatibility, Incompatibility, Schema, check_mode


class ComparedWith(StrEnum):
    """The versions that the modes other than _ALL compare with."""

    CHECKPOINT = "checkpoint"
    PREVIOUS = "previous"
    BOTH = "both"


def check_rule(
    new: Schema,
    available: Mapping[int, Schema],
    mode: Compatibility,
    checkpoint: int = 1,
    compared_with: ComparedWith = ComparedWith.BOTH,
) -> tuple[Incompatibility, ...]:
    """Return the reasons why a schema's rule rejects a new version; empty if it does not.

    `available` holds the available versions by number.
    """
    since = [available[number] for number in sorted(available) if number >= checkpoint]
    if mode.endswith("_ALL"):
        return check_mode(new, since, mode)
    compared = {
        ComparedWith.CHECKPOINT: [since[:1]],
        ComparedWith.PREVIOUS: [since[-1:]],
        ComparedWith.BOTH: [since[:1], since[-1:]],
    }[compared_with]
    found = (problem for earlier in compared for problem in check_mode(new, earlier, mode))
    return tuple(dict.fromkeys(found))
