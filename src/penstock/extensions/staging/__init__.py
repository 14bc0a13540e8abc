"""Staging: topics become tables, and rows of a driver table are joined with their dependencies."""

from __future__ import annotations

from penstock.extensions.staging.configuration import (
    FORMAT,
    Configuration,
    load_configuration,
    load_plan,
    read_configuration,
)
from penstock.extensions.staging.join import (
    JoinCounts,
    Joiner,
    JoinEvent,
    Key,
    Verdict,
    read_name,
    write_name,
)
from penstock.extensions.staging.plan import (
    Dependency,
    Role,
    StagedTable,
    StagingPlan,
    StagingSink,
    find_problems,
)
from penstock.extensions.staging.retry import Retries, RetryCounts
from penstock.extensions.staging.settings import JoinTables, RetrySettings
from penstock.extensions.staging.waiting import Waiter, WaitingTable

__all__ = [
    "FORMAT",
    "Configuration",
    "Dependency",
    "JoinCounts",
    "JoinEvent",
    "JoinTables",
    "Joiner",
    "Key",
    "Retries",
    "RetryCounts",
    "RetrySettings",
    "Role",
    "StagedTable",
    "StagingPlan",
    "StagingSink",
    "Verdict",
    "Waiter",
    "WaitingTable",
    "find_problems",
    "load_configuration",
    "load_plan",
    "read_configuration",
    "read_name",
    "write_name",
]
