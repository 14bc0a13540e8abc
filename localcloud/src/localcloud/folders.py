"""The folder of what localcloud downloads and makes once, for all of its instances.

A clone keeps it inside itself. An installed localcloud keeps it in the user's cache, or where
LOCALCLOUD_CACHE says.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_PROJECT = Path(__file__).resolve().parents[2]


def _find_cache() -> Path:
    if named := os.environ.get("LOCALCLOUD_CACHE"):
        return Path(named).resolve()
    if (_PROJECT / "pyproject.toml").is_file():
        return _PROJECT / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "localcloud").resolve()


CACHE: Final = _find_cache()
