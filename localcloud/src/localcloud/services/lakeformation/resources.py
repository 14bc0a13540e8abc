"""The resources of a request: read, checked against the catalog, and shown again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moto.glue.models import glue_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.identity.lake_grants import (
    ALL_TABLES,
    CATALOG,
    PERMISSIONS,
    LakeGrants,
    Resource,
)

INVALID = "InvalidInputException"
MISSING = "EntityNotFoundException"
_KINDS = ("Catalog", "Database", "DataCellsFilter", "DataLocation", "Table", "TableWithColumns")


def grants_of(call: Call) -> LakeGrants:
    """Return the grants of the caller's account and region."""
    return call.cloud.state(LakeGrants, call.account, call.region)


def read_resource(call: Call, given: dict[str, Any]) -> Resource:
    """Return the resource of a request, which must exist.

    Raises:
        AwsError: it does not exist, or localcloud has no such kind.
    """
    if len(given) != 1 or next(iter(given)) not in _KINDS:
        found = ", ".join(sorted(given)) or "nothing"
        raise AwsError(
            INVALID, f"localcloud has one resource of {', '.join(_KINDS)}; found {found}"
        )
    kind, inner = next(iter(given.items()))
    match kind:
        case "Catalog":
            return CATALOG
        case "Database":
            find_database(call, inner["Name"])
            return Resource("database", (inner["Name"],))
        case "DataLocation":
            return _read_location(call, inner["ResourceArn"])
        case "DataCellsFilter":
            return _read_filter(call, inner)
        case "Table":
            return _read_table(call, inner)
    return _read_columns(call, inner)


def show_resource(call: Call, resource: Resource) -> dict[str, Any]:
    """Describe a resource as ListPermissions does: SELECT on a table is on all its columns."""
    names, owner = resource.names, {"CatalogId": call.account}
    match resource.kind:
        case "database":
            return {"Database": {**owner, "Name": names[0]}}
        case "location":
            return {"DataLocation": {**owner, "ResourceArn": f"arn:aws:s3:::{names[0]}"}}
        case "filter":
            inner = dict(zip(("DatabaseName", "TableName", "Name"), names, strict=True))
            return {"DataCellsFilter": {"TableCatalogId": call.account, **inner}}
        case "table":
            every: dict[str, Any] = {"TableWildcard": {}} if names[1] == ALL_TABLES else {}
            return {"Table": {**owner, "DatabaseName": names[0], "Name": names[1], **every}}
        case "columns":
            table = {**owner, "DatabaseName": names[0], "Name": names[1]}
            return {"TableWithColumns": {**table, **_show_columns(resource)}}
    return {"Catalog": {}}


def _show_columns(resource: Resource) -> dict[str, Any]:
    if resource.columns is not None:
        return {"ColumnNames": sorted(resource.columns)}
    without = {"ExcludedColumnNames": sorted(resource.without)} if resource.without else {}
    return {"ColumnWildcard": without}


def split(resource: Resource, permissions: Iterable[str]) -> dict[Resource, frozenset[str]]:
    """Return permissions by resource: SELECT on a table is kept as a grant on its columns.

    Raises:
        AwsError: the resource has no such permission.
    """
    given = frozenset(permissions)
    if wrong := given - PERMISSIONS[resource.kind]:
        raise AwsError(INVALID, f"{', '.join(sorted(wrong))} is no permission on {resource.kind}")
    if resource.kind != "table":
        return {resource: given}
    parts = {
        resource: given - {"SELECT"},
        Resource("columns", resource.names): given & {"SELECT"},
    }
    return {part: some for part, some in parts.items() if some}


def find_database(call: Call, name: str) -> Any:
    """Return a database of moto's; raise AwsError if it does not exist."""
    found = glue_backends[call.account][call.region].databases.get(name)
    if found is None:
        raise AwsError(MISSING, f"Database {name} not found.")
    return found


def find_columns(call: Call, database: str, table: str) -> list[str]:
    """Return the names of a table's columns; raise AwsError if it does not exist."""
    found = find_database(call, database).tables.get(table)
    if found is None:
        raise AwsError(MISSING, "Table not found.")
    described = found.as_dict()
    listed = described.get("StorageDescriptor", {}).get("Columns", [])
    return [each["Name"] for each in (*listed, *described.get("PartitionKeys", []))]


def check_columns(call: Call, database: str, table: str, columns: Iterable[str]) -> None:
    """Refuse columns that a table does not have."""
    known = find_columns(call, database, table)
    if missing := sorted(set(columns) - set(known)):
        raise AwsError(
            INVALID, f"You cannot grant/revoke permission on non-existent column {missing[0]}"
        )


def _read_table(call: Call, inner: dict[str, Any]) -> Resource:
    if ("Name" in inner) == ("TableWildcard" in inner) and inner.get("Name") != ALL_TABLES:
        raise AwsError(INVALID, "Give a table its Name or TableWildcard")
    database = inner["DatabaseName"]
    if "TableWildcard" in inner:
        find_database(call, database)
        return Resource("table", (database, ALL_TABLES))
    find_columns(call, database, inner["Name"])
    return Resource("table", (database, inner["Name"]))


def _read_columns(call: Call, inner: dict[str, Any]) -> Resource:
    database, table = inner["DatabaseName"], inner["Name"]
    names, wildcard = inner.get("ColumnNames"), inner.get("ColumnWildcard")
    if (names is None) == (wildcard is None):
        raise AwsError(INVALID, "Give a table with columns ColumnNames or ColumnWildcard")
    without = (wildcard or {}).get("ExcludedColumnNames", [])
    if table == ALL_TABLES:
        find_database(call, database)
    else:
        check_columns(call, database, table, [*(names or []), *without])
    columns = None if names is None else frozenset(names)
    return Resource("columns", (database, table), columns, frozenset(without))


def _read_filter(call: Call, inner: dict[str, Any]) -> Resource:
    names = (inner["DatabaseName"], inner["TableName"], inner["Name"])
    found = grants_of(call).filters.get(names)
    if found is None:
        raise AwsError(MISSING, f"Data cells filter {names[-1]} not found.")
    return found.resource


def _read_location(call: Call, arn: str) -> Resource:
    path = arn.rpartition(":::")[2].rstrip("/")
    if grants_of(call).find_location(path) is None:
        raise AwsError(INVALID, f"You must register the S3 path {arn} first")
    return Resource("location", (path,))
