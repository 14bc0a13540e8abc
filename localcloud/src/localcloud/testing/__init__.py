"""What tests need of localcloud, and its pytest plug-in, which localcloud/docs/testing.md shows."""

from __future__ import annotations

from localcloud.testing.functions import (
    ARCHITECTURE,
    ECHO,
    RUNTIME,
    allow,
    deploy,
    error_of,
    invoke,
    make_queue,
    make_role,
    make_zip,
)
from localcloud.testing.waiting import ask_for, is_running, wait_until

__all__ = [
    "ARCHITECTURE",
    "ECHO",
    "RUNTIME",
    "allow",
    "ask_for",
    "deploy",
    "error_of",
    "invoke",
    "is_running",
    "make_queue",
    "make_role",
    "make_zip",
    "wait_until",
]
