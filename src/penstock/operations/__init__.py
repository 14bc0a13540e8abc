"""The tasks of an operator: functions that return values and print nothing."""

from __future__ import annotations

from penstock.operations.contracts import CONTRACT_FILE, WrittenContract, write_contract
from penstock.operations.jobs import JobRun, start_job, submit_job
from penstock.operations.rejected import (
    ListedEvent,
    ReplayedEvent,
    list_rejected,
    replay_rejected,
)
from penstock.operations.topics import ReadRecord, ReadSettings, read_records

__all__ = [
    "CONTRACT_FILE",
    "JobRun",
    "ListedEvent",
    "ReadRecord",
    "ReadSettings",
    "ReplayedEvent",
    "WrittenContract",
    "list_rejected",
    "read_records",
    "replay_rejected",
    "start_job",
    "submit_job",
    "write_contract",
]
