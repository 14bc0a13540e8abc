"""A lease of a scheduled function that another invocation holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class HeldByAnother:
    """What `FunctionLease` is while another invocation works."""

    @contextmanager
    def held_during(self, _context: Any) -> Iterator[bool]:
        """Say that it is not held."""
        yield False
