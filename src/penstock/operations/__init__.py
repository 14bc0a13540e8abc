"""The tasks of an operator: functions that return values and print nothing.

An operation with many parts returns an iterator, so its caller shows each part when it is done. If
operations printed by a callback, a caller could not decide afterwards what to show.
"""

from __future__ import annotations

from penstock.operations.clients import is_error_of_aws
from penstock.operations.contracts import (
    CONTRACT_FILE,
    WrittenContract,
    read_contracts,
    write_contract,
)
from penstock.operations.database import open_database
from penstock.operations.dead_letters import list_dead_letters, read_dead_letter
from penstock.operations.files import read_json, read_text, read_toml, write_text
from penstock.operations.job_counts import Batch, RunCounts, count_rows, read_batches
from penstock.operations.job_runs import ListedRun, find_run, list_runs
from penstock.operations.jobs import JobRun, start_job, submit_job, wait_for_job
from penstock.operations.outputs import choose_entry, read_output, read_outputs
from penstock.operations.producing import (
    NO_BROKERS,
    EventLines,
    GeneratedEvents,
    PreviewedEvent,
    ProducedEvent,
    ProduceSettings,
    preview_events,
    produce_events,
)
from penstock.operations.profiles import read_contract_profile, read_root_profiles
from penstock.operations.programs import (
    Account,
    Grant,
    Producer,
    Programs,
    Reader,
    ReaderTable,
)
from penstock.operations.rejected import (
    ListedEvent,
    ReplayedEvent,
    list_rejected,
    replay_rejected,
)
from penstock.operations.root_programs import load_programs
from penstock.operations.schemas import (
    CheckedSchema,
    ComparedVersions,
    RegisteredSchema,
    check_candidate,
    compare_versions,
    list_schemas,
    read_version,
    read_versions,
    register_schema,
)
from penstock.operations.status import (
    DeadLetterCount,
    Gauge,
    KeptEvents,
    Status,
    StatusReader,
    StatusSettings,
    VersionsLeft,
)
from penstock.operations.steps import JobStep
from penstock.operations.stored_settings import read_stored_settings
from penstock.operations.topics import (
    ReadRecord,
    ReadSettings,
    read_raw_records,
    read_records,
)

__all__ = [
    "CONTRACT_FILE",
    "NO_BROKERS",
    "Account",
    "Batch",
    "CheckedSchema",
    "ComparedVersions",
    "DeadLetterCount",
    "EventLines",
    "Gauge",
    "GeneratedEvents",
    "Grant",
    "JobRun",
    "JobStep",
    "KeptEvents",
    "ListedEvent",
    "ListedRun",
    "PreviewedEvent",
    "ProduceSettings",
    "ProducedEvent",
    "Producer",
    "Programs",
    "ReadRecord",
    "ReadSettings",
    "Reader",
    "ReaderTable",
    "RegisteredSchema",
    "ReplayedEvent",
    "RunCounts",
    "Status",
    "StatusReader",
    "StatusSettings",
    "VersionsLeft",
    "WrittenContract",
    "check_candidate",
    "choose_entry",
    "compare_versions",
    "count_rows",
    "find_run",
    "is_error_of_aws",
    "list_dead_letters",
    "list_rejected",
    "list_runs",
    "list_schemas",
    "load_programs",
    "open_database",
    "preview_events",
    "produce_events",
    "read_batches",
    "read_contract_profile",
    "read_contracts",
    "read_dead_letter",
    "read_json",
    "read_output",
    "read_outputs",
    "read_raw_records",
    "read_records",
    "read_root_profiles",
    "read_stored_settings",
    "read_text",
    "read_toml",
    "read_version",
    "read_versions",
    "register_schema",
    "replay_rejected",
    "start_job",
    "submit_job",
    "wait_for_job",
    "write_contract",
    "write_text",
]
