"""Lambda functions as processes, and the pollers that read Kafka for them."""

from __future__ import annotations

from localcloud.functions.async_invocation import AsyncSettings, invoke_later
from localcloud.functions.environment import ExecutionEnvironment, State
from localcloud.functions.fleet import Fleet
from localcloud.functions.mappings import EventSourceMapping, MappingState
from localcloud.functions.outcome import MAX_PAYLOAD_BYTES, Outcome
from localcloud.functions.poller_process import PollerProcess
from localcloud.functions.runtimes import load_runtime
from localcloud.functions.spec import (
    SNAP_START,
    FunctionSpec,
    applies_to_versions,
    read_spec,
)
from localcloud.functions.zips import check_zip, unpack_zip

__all__ = [
    "MAX_PAYLOAD_BYTES",
    "SNAP_START",
    "AsyncSettings",
    "EventSourceMapping",
    "ExecutionEnvironment",
    "Fleet",
    "FunctionSpec",
    "MappingState",
    "Outcome",
    "PollerProcess",
    "State",
    "applies_to_versions",
    "check_zip",
    "invoke_later",
    "load_runtime",
    "read_spec",
    "unpack_zip",
]
