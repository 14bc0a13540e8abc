"""Registered locations: the S3 paths that Lake Formation reads for those with grants."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.identity.lake_grants import Location
from localcloud.identity.roles import role_account
from localcloud.services.lakeformation.resources import INVALID, MISSING, grants_of

_ONLY = ("ResourceArn", "RoleArn")


@operation("lakeformation", "RegisterResource")
def register_resource(call: Call) -> dict[str, Any]:
    """Register a location with a role of the account."""
    made = _read_location(call)
    grants = grants_of(call)
    with grants.lock:
        if made.arn in grants.locations:
            raise AwsError("AlreadyExistsException", "Resource is already registered")
        grants.locations[made.arn] = made
    return {}


@operation("lakeformation", "UpdateResource")
def update_resource(call: Call) -> dict[str, Any]:
    """Give a location another role."""
    made = _read_location(call)
    _find_location(call)
    grants_of(call).locations[made.arn] = made
    return {}


@operation("lakeformation", "DeregisterResource")
def deregister_resource(call: Call) -> dict[str, Any]:
    """Deregister a location."""
    del grants_of(call).locations[_find_location(call).arn]
    return {}


@operation("lakeformation", "DescribeResource")
def describe_resource(call: Call) -> dict[str, Any]:
    """Describe a location."""
    return {"ResourceInfo": _show(_find_location(call))}


@operation("lakeformation", "ListResources")
def list_resources(call: Call) -> dict[str, Any]:
    """List the locations."""
    return {"ResourceInfoList": [_show(each) for each in list(grants_of(call).locations.values())]}


def _read_location(call: Call) -> Location:
    check_params(call, INVALID)
    params = call.params
    others = sorted(name for name, value in params.items() if value and name not in _ONLY)
    if others or "RoleArn" not in params:
        raise AwsError(
            INVALID,
            "localcloud registers a location with ResourceArn and RoleArn alone: it has neither "
            f"the service-linked role nor hybrid access; found {', '.join(others) or 'no role'}",
        )
    if role_account(params["RoleArn"]) != call.account:
        raise AwsError(INVALID, "The role must be one of the account")
    return Location(params["ResourceArn"], params["RoleArn"])


def _find_location(call: Call) -> Location:
    found = grants_of(call).locations.get(call.params["ResourceArn"])
    if found is None:
        raise AwsError(MISSING, "Entity not found")
    return found


def _show(location: Location) -> dict[str, Any]:
    return {
        "ResourceArn": location.arn,
        "RoleArn": location.role_arn,
        "LastModified": datetime.now(UTC),
        "WithFederation": False,
        "HybridAccessEnabled": False,
    }
