"""The settings of a data lake: its administrators, and who decides on what is new."""

from __future__ import annotations

from typing import Any

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.identity.lake_grants import IAM_ALLOWED
from localcloud.services.lakeformation.resources import INVALID, grants_of

_DEFAULTS = ("CreateDatabaseDefaultPermissions", "CreateTableDefaultPermissions")


@operation("lakeformation", "GetDataLakeSettings")
def get_data_lake_settings(call: Call) -> dict[str, Any]:
    """Return the settings."""
    return {"DataLakeSettings": grants_of(call).settings}


@operation("lakeformation", "PutDataLakeSettings")
def put_data_lake_settings(call: Call) -> dict[str, Any]:
    """Replace the settings: a default that is left out is empty."""
    check_params(call, INVALID)
    given = call.params["DataLakeSettings"]
    for name in _DEFAULTS:
        _check_default(name, given.get(name, []))
    grants_of(call).settings = {"DataLakeAdmins": [], **{key: [] for key in _DEFAULTS}, **given}
    return {}


def _check_default(name: str, permissions: list[dict[str, Any]]) -> None:
    """Check a default: API reference, DataLakeSettings: empty, or ALL for IAM_ALLOWED_PRINCIPALS.

    It may be one of the two and nothing else.
    """
    found = [
        (each.get("Principal", {}).get("DataLakePrincipalIdentifier"), each.get("Permissions"))
        for each in permissions
    ]
    if found not in ([], [(IAM_ALLOWED, ["ALL"])]):
        raise AwsError(
            INVALID, f"{name} must be empty or grant ALL to {IAM_ALLOWED}, found {found}"
        )
