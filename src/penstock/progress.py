"""The progress of an operation that may take long."""

from __future__ import annotations

from collections.abc import Callable

# Called with what is counted, such as "files", how many are done, and of how many. The number of
# all is None where it is not known, and both are None where nothing can be counted.
ReportProgress = Callable[[str, int | None, int | None], None]


def ignore_progress(_unit: str, _done: int | None, _total: int | None) -> None:
    """Report nothing."""
