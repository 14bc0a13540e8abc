"""The settings of a registry outside AWS's API: time, quota, reading of the rules."""

from __future__ import annotations

from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import action
from localcloud.services.glue.registry.compatibility import ComparedWith
from localcloud.services.glue.registry.state import GlueRegistries


@action("set-schema-registry")
def set_schema_registry(  # noqa: PLR0913 - one parameter per member of the JSON object
    cloud: Cloud,
    *,
    account: str,
    region: str,
    compared_with: str | None = None,
    pending_reads: int | None = None,
    pending_seconds: int | float | None = None,
    version_quota: int | None = None,
) -> dict[str, Any]:
    """Set the behaviour of an account's Glue schema registry in a region, and return it.

    compared_with: what a new version is compared with: checkpoint, previous or both
    pending_reads, pending_seconds: how often or how long each later version is PENDING
    version_quota: the maximum number of versions of the account
    """
    if compared_with is not None and compared_with not in set(ComparedWith):
        expected = ", ".join(ComparedWith)
        raise ValueError(f"compared_with is {compared_with!r}, expected one of {expected}")
    store = cloud.state(GlueRegistries, account, region).store
    given = {
        "compared_with": ComparedWith(compared_with) if compared_with else None,
        "pending_reads": pending_reads,
        "pending_seconds": pending_seconds,
        "version_quota": version_quota,
    }
    for name, value in given.items():
        if isinstance(value, int | float) and value < 0:
            raise ValueError(f"{name} is {value}, expected 0 or more")
    for name, value in given.items():
        if value is not None:
            setattr(store, name, value)
    return {name: getattr(store, name) for name in given}
