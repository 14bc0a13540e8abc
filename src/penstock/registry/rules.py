"""The compatibility check of a new version: the versions it is compared with, and the result.

AWS's documentation allows two readings: a new version is compared with the checkpoint (by default
the first version), or with the version before it. Both are implemented. The default is to apply
both, which is the strictest.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from penstock.schemas import Compatibility, Incompatibility, Schema, check_mode


class ComparedWith(StrEnum):
    """The versions that a new version is compared with, in the modes without `_ALL`."""

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
    """Return the reasons why a compatibility mode rejects a new version; none if it is accepted.

    Args:
        new: the schema of the new version.
        available: the available versions by number.
        mode: the compatibility mode.
        checkpoint: the number of the version from which on versions are compared.
        compared_with: the reading of AWS's documentation that is applied.
    """
    checked = [available[number] for number in sorted(available) if number >= checkpoint]
    if mode.endswith("_ALL"):
        return check_mode(new, checked, mode)
    groups = {
        ComparedWith.CHECKPOINT: [checked[:1]],
        ComparedWith.PREVIOUS: [checked[-1:]],
        ComparedWith.BOTH: [checked[:1], checked[-1:]],
    }[compared_with]
    problems = (problem for earlier in groups for problem in check_mode(new, earlier, mode))
    return tuple(dict.fromkeys(problems))
