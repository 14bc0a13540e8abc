"""The commit that figures are of."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

_CLONE: Final = Path(__file__).parents[1]


def find_commit(revision: str = "HEAD") -> str:
    """Return the short name of a commit: the one that is checked out, if no other is named."""
    words = ["git", "-C", str(_CLONE), "rev-parse", "--short=12", "--verify", revision]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
