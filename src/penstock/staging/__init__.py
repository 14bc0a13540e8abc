"""Staging: topics become tables, and rows of a driver table are joined with their dependencies."""

from __future__ import annotations

from penstock.staging.configuration import (
    FORMAT,
    Configuration,
    load_configuration,
    load_plan,
    read_configuration,
)
from penstock.staging.join import JoinCounts, Joiner, JoinEvent, Key, Verdict, read_name, write_name
from penstock.staging.plan import (
    STAGING_TIME,
    Dependency,
    Role,
    StagedTable,
    StagingPlan,
    StagingSink,
    find_problems,
)
from penstock.staging.retry import Retries, RetryCounts
from penstock.staging.settings import RETRY_SECONDS, JoinTables, RetrySettings
from penstock.staging.waiting import Waiter, WaitingTable

__all__ = [
    "FORMAT",
    "RETRY_SECONDS",
    "STAGING_TIME",
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
