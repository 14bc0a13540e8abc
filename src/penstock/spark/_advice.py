"""What to do about a checkpoint that cannot be used."""

from __future__ import annotations

from typing import Final

WHAT_TO_DO: Final = (
    "restore it from a copy, or begin with a new checkpoint and --starting at the time of the "
    "last batch"
)
