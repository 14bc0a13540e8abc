"""With which versions a registry compares a new one, and what it finds.

AWS's documents can be read two ways: a new version is compared with the checkpoint (by default the
first version), or with the version before it. Both readings are built; the stricter is both.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from penstock.schemas import Compatibility, Incompatibility, Schema, check_mode


class ComparedWith(StrEnum):
    """How to read "compared with" for the modes that are not _ALL."""

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
    """Say why a schema's rule refuses a new version after the available ones, by number."""
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
