"""Staging: topics become tables, and rows of a driver table are joined with their dependencies."""

from __future__ import annotations

from penstock.extensions.staging.configuration import Configuration
from penstock.extensions.staging.join import JoinCounts, Joiner, JoinEvent, JoinResult, Key
from penstock.extensions.staging.plan import Dependency, Role, StagedTable, StagingPlan, StagingSink
from penstock.extensions.staging.retry import Retries, RetryCounts
from penstock.extensions.staging.settings import JoinTables, RetrySettings
from penstock.extensions.staging.unjoined_table import UnjoinedTable
from penstock.extensions.staging.waiting import Waiter, WaitingTable

__all__ = [
    "Configuration",
    "Dependency",
    "JoinCounts",
    "JoinEvent",
    "JoinResult",
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
    "UnjoinedTable",
    "Waiter",
    "WaitingTable",
]
