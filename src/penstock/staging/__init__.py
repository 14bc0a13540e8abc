"""Staging: topics become tables, and rows of a driver table are joined with their dependencies."""

from __future__ import annotations

from penstock.staging.configuration import (
    FORMAT,
    Configuration,
    load_configuration,
    read_configuration,
)
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
    "FORMAT",
    "STAGING_TIME",
    "Configuration",
    "Dependency",
    "Role",
    "StagedTable",
    "StagingPlan",
    "StagingSink",
    "find_problems",
    "load_configuration",
    "read_configuration",
]
