"""The state of Athena: the queries of an account and region, and their settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from moto.athena.models import athena_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.queries import Query, StatementKind

INVALID = "InvalidRequestException"
_DEFAULT_GROUP = "primary"
_NO_OUTPUT = (
    "No output location provided. An output location is required either through the Workgroup "
    "result configuration setting or as an API input."
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The output location and the scan limit, from the work group and the call."""

    group: str
    output: dict[str, Any]
    output_is_enforced: bool
    max_bytes: int | None


@dataclass(frozen=True, slots=True)
class Execution:
    """A query with its settings and its request."""

    query: Query
    settings: Settings
    asked_with: dict[str, Any] = field(repr=False)

    @property
    def output_location(self) -> str:
        """The URI of the result: rows, nothing, or the files of a new table."""
        query = self.query
        if query.kind is StatementKind.CREATE_TABLE_AS:
            return f"{query.output}/tables/{query.id}-manifest.csv"
        return f"{query.output}/{query.id}.{'csv' if query.kind is StatementKind.SELECT else 'txt'}"


@dataclass(slots=True)
class Executions:
    """The queries of one account and region, by id, the oldest first."""

    by_id: dict[str, Execution] = field(default_factory=dict)


def find_settings(call: Call) -> Settings:
    """Return the settings of the call's work group, which may override those of the call."""
    name = call.params.get("WorkGroup", _DEFAULT_GROUP)
    group = athena_backends[call.account][call.region].work_groups.get(name)
    if group is None:
        raise AwsError(INVALID, f"WorkGroup {name} is not found.")
    if group.state != "ENABLED":
        raise AwsError(INVALID, f"WorkGroup {name} is disabled.")
    configuration = group.configuration
    fixed = configuration.get("ResultConfiguration", {})
    asked = call.params.get("ResultConfiguration", {})
    enforced = bool(configuration["EnforceWorkGroupConfiguration"])
    output = fixed if enforced else {**fixed, **asked}
    if not output.get("OutputLocation"):
        raise AwsError(INVALID, _NO_OUTPUT)
    limit = configuration.get("BytesScannedCutoffPerQuery")
    return Settings(name, output, enforced and bool(fixed), limit)


def find_execution(call: Call, identity: str) -> Execution:
    """Return a query; raise AwsError if it does not exist."""
    found = call.cloud.state(Executions, call.account, call.region).by_id.get(identity)
    if found is None:
        raise AwsError(INVALID, f"QueryExecution {identity} was not found")
    return found
