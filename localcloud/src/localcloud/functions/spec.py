"""A function as a value: equal ones can share an execution environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from localcloud.moto_repairs import read_vpc_config

_LATEST = "$LATEST"
# moto copies all attributes of a record when a version is published.
SNAP_START = "localcloud_snap_start"


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """A function's code and configuration at one moment."""

    account: str
    region: str
    name: str
    arn: str
    version: str
    runtime: str
    handler: str
    architecture: str
    timeout_seconds: int
    memory_mb: int
    role_arn: str
    variables: tuple[tuple[str, str], ...] = field(repr=False)
    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]
    code_digest: str
    code: bytes = field(repr=False, compare=False)
    reserved_concurrency: int | None = field(compare=False)
    has_snapshot: bool = False  # a published version with SnapStart

    @property
    def unqualified_arn(self) -> str:
        """The ARN of the function, without a version."""
        return ":".join(self.arn.split(":")[:7])

    @property
    def log_group(self) -> str:
        """The log group of the function."""
        return f"/aws/lambda/{self.name}"


def applies_to_versions(function: Any) -> bool:
    """Return whether SnapStart is on in moto's record of a function, to which we add that."""
    return getattr(function, SNAP_START, None) == "PublishedVersions"


def read_spec(function: Any) -> FunctionSpec:
    """Return the spec of moto's record of a function."""
    network = read_vpc_config(function)
    reserved = function.reserved_concurrency
    return FunctionSpec(
        account=function.account_id,
        region=function.region,
        name=function.function_name,
        arn=function.function_arn,
        version=str(function.version),
        runtime=function.run_time or "",
        handler=function.handler or "",
        architecture=function.architectures[0],
        timeout_seconds=int(function.timeout),
        memory_mb=int(function.memory_size),
        role_arn=function.role,
        variables=tuple(sorted(function.environment_vars.items())),
        subnets=tuple(network.get("SubnetIds") or ()),
        security_groups=tuple(network.get("SecurityGroupIds") or ()),
        code_digest=function.code_digest,
        code=function.code_bytes,
        reserved_concurrency=None if reserved is None else int(reserved),
        has_snapshot=applies_to_versions(function) and str(function.version) != _LATEST,
    )
