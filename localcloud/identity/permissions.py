"""May the caller do this: the role's policies, decided for the services this platform calls."""

from __future__ import annotations

from localcloud.operations import Call


def authorize(call: Call) -> None:
    """Let the call pass, or raise AccessDenied."""
