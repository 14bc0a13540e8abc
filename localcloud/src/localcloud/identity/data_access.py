"""Lake Formation's part in a query: the columns and rows of a table that its caller may select.

Lake Formation Developer Guide, "How Lake Formation application integration works": at a registered
location a query service reads with the keys of the location's role, for whoever has
`lakeformation:GetDataAccess` and a grant. Everywhere else it reads with the caller's own rights on
S3, and grants do not apply to the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from moto.glue.models import glue_backends

from localcloud.cloud import Cloud
from localcloud.identity.callers import Caller
from localcloud.identity.credentials import SessionKey, credentials_for_role
from localcloud.identity.lake_grants import Grant, LakeGrants, Location
from localcloud.identity.permissions import may, may_be_assumed_by_service
from localcloud.identity.roles import is_bootstrap_role

_GET_DATA_ACCESS = "lakeformation:GetDataAccess"
_SERVICE = "lakeformation.amazonaws.com"


class DataAccessError(PermissionError):
    """A table that Lake Formation does not let a caller select from; the message is Athena's."""


@dataclass(frozen=True, slots=True)
class DataAccess:
    """The columns and rows of a table that a caller may select; the table has all its columns.

    The columns are names, None for all; the rows are a condition, None for all. The key is that of
    the location's role, None for the caller's own rights on S3.
    """

    table: dict[str, Any] = field(repr=False)
    columns: frozenset[str] | None = None
    rows: str | None = None
    key: SessionKey | None = field(default=None, repr=False)


def find_data_access(cloud: Cloud, caller: Caller, table: dict[str, Any]) -> DataAccess:
    """Return what a caller may select of a table that it has described.

    Raises:
        DataAccessError: nothing, or not by what localcloud imitates.
    """
    role, (database, name) = caller.role_arn, (table["DatabaseName"], table["Name"])
    grants = cloud.state(LakeGrants, caller.account, caller.region)
    location = str(table.get("StorageDescriptor", {}).get("Location") or "")
    registered = grants.find_location(location.partition("://")[2].rstrip("/"))
    if role is None or is_bootstrap_role(role) or registered is None:
        return DataAccess(table)
    held = [
        grant
        for grant in grants.held_by(role)
        if grant.resource.covers_table(database, name)
        and not grant.permissions.isdisjoint({"ALL", "SELECT"})
    ]
    if not held or not may(role, _GET_DATA_ACCESS, "*"):
        raise DataAccessError(
            f"Insufficient permissions to execute the query. {_missing(caller, name, bool(held))}"
        )
    stored = glue_backends[caller.account][caller.region].get_table(database, name).as_dict()
    whole = table | {"StorageDescriptor": stored["StorageDescriptor"]}
    listed = (*whole["StorageDescriptor"].get("Columns", []), *whole.get("PartitionKeys", []))
    columns = [each["Name"] for each in listed]
    shown, rows = _select(grants, held, f"{database}.{name}", columns)
    if not shown:
        raise DataAccessError(
            f"Insufficient permissions to execute the query. {_missing(caller, name, False)}"
        )
    return DataAccess(whole, shown, rows, _lend_key(cloud, registered))


def _missing(caller: Caller, table: str, has_grant: bool) -> str:
    if not has_grant:
        return f"Insufficient Lake Formation permission(s): Required Select on {table}"
    return f"User: {caller.arn} is not authorized to perform: {_GET_DATA_ACCESS}"


def _select(
    grants: LakeGrants, held: list[Grant], name: str, columns: list[str]
) -> tuple[frozenset[str], str | None]:
    plain = [grant.resource for grant in held if grant.resource.kind != "filter"]
    seen = frozenset(each for each in columns if any(resource.shows(each) for resource in plain))
    filters = [
        grants.filters[grant.resource.names]
        for grant in held
        if grant.resource.kind == "filter" and grant.resource.names in grants.filters
    ]
    if not filters or len(seen) == len(columns):
        return seen, None
    if plain or len(filters) > 1:
        raise DataAccessError(
            f"localcloud applies one data filter of a table and no other grant beside it; {name} "
            f"has {', '.join(sorted(each.resource.names[-1] for each in filters))}"
            f"{' and columns' if plain else ''}"
        )
    return frozenset(each for each in columns if filters[0].shows(each)), filters[0].rows


def _lend_key(cloud: Cloud, location: Location) -> SessionKey:
    if not may_be_assumed_by_service(location.role_arn, _SERVICE):
        raise DataAccessError(
            f"Insufficient permissions to execute the query. {location.role_arn} does not let "
            f"{_SERVICE} assume it"
        )
    return credentials_for_role(cloud, location.role_arn, "AWSLF-00-AT", 3600)
