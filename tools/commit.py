"""The commit that figures are of."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

_CLONE: Final = Path(__file__).parents[1]


def find_commit() -> str:
    """Return the short name of the commit that is checked out."""
    words = ["git", "-C", str(_CLONE), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
