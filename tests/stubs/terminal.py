"""A stream that says it is a terminal."""

from __future__ import annotations

import io


class Terminal(io.StringIO):
    """A terminal that keeps what was written to it."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True
