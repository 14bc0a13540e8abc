"""Moments as people write them for a job."""

from __future__ import annotations

from datetime import datetime


def parse_moment(text: str) -> datetime:
    """Read a time like 2026-11-21T08:00:00+00:00; without a zone it could be another moment.

    Raises:
        ValueError: it is none.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment
