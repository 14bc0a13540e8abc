"""Staging: topics become tables, and rows of a driver table are joined with their dependencies."""

from __future__ import annotations

from penstock.staging.plan import (
    STAGING_TIME,
    Dependency,
    Role,
    StagedTable,
    StagingPlan,
    StagingSink,
    find_problems,
)

__all__ = [
    "STAGING_TIME",
    "Dependency",
    "Role",
    "StagedTable",
    "StagingPlan",
    "StagingSink",
    "find_problems",
]
