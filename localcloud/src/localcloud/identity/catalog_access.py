"""Lake Formation's part in a call on the Glue catalog: it must allow what IAM has allowed.

Keys of an account, and the deploy role before somebody creates it, may do everything here too. A
resource that does not exist is refused like one without a grant, unless the caller may create it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from moto.backends import get_backend

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer
from localcloud.identity.lake_grants import (
    ALL_TABLES,
    CATALOG,
    IAM_ALLOWED,
    LOCATION_ACCESS,
    PERMISSIONS,
    Grant,
    LakeGrants,
    Resource,
    is_below,
)
from localcloud.identity.roles import is_bootstrap_role

# Lake Formation Developer Guide, "Lake Formation permissions reference". "" is any permission.
_ON_DATABASE = {
    "CreateTable": "CREATE_TABLE",
    "DeleteDatabase": "DROP",
    "GetDatabase": "",
    "GetTables": "",
    "UpdateDatabase": "ALTER",
}
_ON_TABLE = {
    "BatchCreatePartition": "ALTER",
    "BatchDeletePartition": "ALTER",
    "BatchGetPartition": "",
    "BatchUpdatePartition": "ALTER",
    "CreatePartition": "ALTER",
    "DeletePartition": "ALTER",
    "DeleteTable": "DROP",
    "GetPartition": "",
    "GetPartitions": "",
    "GetTable": "",
    "GetTableVersion": "",
    "GetTableVersions": "",
    "UpdatePartition": "ALTER",
    "UpdateTable": "ALTER",
}
_WORDS = {
    "ALTER": "Alter",
    "CREATE_DATABASE": "Create Database",
    "CREATE_TABLE": "Create Table",
    "DROP": "Drop",
}


@dataclass(frozen=True, slots=True)
class Lake:
    """The grants of a catalog as one principal has them; None may do everything."""

    grants: LakeGrants
    account: str
    region: str
    principal: str | None

    @property
    def administers(self) -> bool:
        """Return whether the caller may create databases and use any location.

        Lake Formation Developer Guide, "Implicit Lake Formation permissions": administrators do.
        """
        return self.principal is None or self.grants.is_admin(self.principal)

    @property
    def sees_all(self) -> bool:
        """Return whether the caller may describe everything, and list the grants of others."""
        return self.principal is None or self.grants.may_see(self.principal)

    def may_on_database(self, database: str, permission: str) -> bool:
        """Return whether the principal has a permission on a database; "" is any of them."""
        if self._is_free(permission):
            return True
        on = {Resource("database", (database,))}
        if not permission:
            on |= {Resource(kind, (database, ALL_TABLES)) for kind in ("columns", "table")}
        return any(_gives(grant, permission) for grant in self._held() if grant.resource in on)

    def may_on_table(self, database: str, table: str, permission: str) -> bool:
        """Return whether the principal has a permission on a table; "" is any of them."""
        return self._is_free(permission) or any(
            _gives(grant, permission)
            for grant in self._held()
            if grant.resource.covers_table(database, table)
        )

    def may_create_databases(self) -> bool:
        """Return whether the principal may create databases; administrators may."""
        return self.administers or any(grant.resource == CATALOG for grant in self._held())

    def may_point_to(self, path: str, database_path: str) -> bool:
        """Return whether a table or database may point to an S3 path, BUCKET/PREFIX.

        Lake Formation Developer Guide, "Underlying data access control": only registered
        locations are restricted, and none below the location of the table's database.
        """
        if self.administers or self.grants.find_location(path) is None:
            return True
        if database_path and is_below(path, database_path):
            return True
        return any(
            LOCATION_ACCESS in grant.permissions and is_below(path, grant.resource.names[0])
            for grant in self._held()
            if grant.resource.kind == "location"
        )

    def shown_columns(self, database: str, table: str, columns: list[str]) -> list[str]:
        """Return the columns that the principal may see described: those it may select.

        A permission on the table as a whole shows all of them.
        """
        if self.sees_all:
            return columns
        on = [one.resource for one in self._held() if one.resource.covers_table(database, table)]
        return [name for name in columns if any(_is_shown(self.grants, it, name) for it in on)]

    def _held(self) -> Iterator[Grant]:
        return self.grants.held_by(self.principal or "")

    def _is_free(self, permission: str) -> bool:
        return self.principal is None or (not permission and self.sees_all)


def lake_of(call: Call) -> Lake:
    """Return the grants of the caller's catalog as the caller has them."""
    role = call.caller.role_arn
    principal = None if role is None or is_bootstrap_role(role) else role
    grants = call.cloud.state(LakeGrants, call.account, call.region)
    return Lake(grants, call.account, call.region, principal)


def check_catalog(call: Call) -> None:
    """Refuse a call on the Glue catalog that no grant allows.

    Raises:
        AwsError: AccessDeniedException.
    """
    params, lake, operation = call.params, lake_of(call), call.operation
    database = params.get("DatabaseName") or params.get("Name") or ""
    if operation == "CreateDatabase":
        _check(lake.may_create_databases(), "CREATE_DATABASE", "Catalog")
        _check_location(lake, params["DatabaseInput"].get("LocationUri", ""), "")
    elif operation in _ON_DATABASE:
        _check_database(lake, database, _ON_DATABASE[operation])
        storage = params.get("TableInput", {}).get("StorageDescriptor", {})
        if operation == "CreateTable":
            _check_location(lake, storage.get("Location", ""), _location_of(lake, database))
    elif operation in _ON_TABLE:
        table = _table_name(params)
        _check_table(lake, database, table, _ON_TABLE[operation])
        if operation == "UpdateTable":
            storage = params.get("TableInput", {}).get("StorageDescriptor", {})
            _check_location(lake, storage.get("Location", ""), _location_of(lake, database))
    elif operation == "BatchDeleteTable":
        for table in params["TablesToDelete"]:
            _check_table(lake, database, table, "DROP")


def settle_catalog(call: Call, answer: HttpAnswer) -> HttpAnswer:
    """Grant a creator what it made, and hide what the caller may not see in the answer."""
    params, lake = call.params, lake_of(call)
    match call.operation:
        case "CreateDatabase":
            _grant_database(lake, params["DatabaseInput"])
        case "CreateTable":
            _grant_table(lake, params["DatabaseName"], _table_name(params))
        case "UpdateDatabase" if "CreateTableDefaultPermissions" in params["DatabaseInput"]:
            open_tables = bool(params["DatabaseInput"]["CreateTableDefaultPermissions"])
            lake.grants.new_tables_by_iam[params["Name"]] = open_tables
        case "DeleteDatabase":
            lake.grants.forget(params["Name"])
        case "DeleteTable":
            lake.grants.forget(params["DatabaseName"], params["Name"])
        case "BatchDeleteTable":
            for table in params["TablesToDelete"]:
                lake.grants.forget(params["DatabaseName"], table)
        case "GetDatabases" | "GetTable" | "GetTables" | "SearchTables":
            return _hide(lake, answer)
    return answer


def _hide(lake: Lake, answer: HttpAnswer) -> HttpAnswer:
    if lake.principal is None:
        return answer
    found = json.loads(answer.body)
    said: dict[str, Any] = dict(found)
    if "DatabaseList" in said:
        said["DatabaseList"] = [
            each
            for each in said["DatabaseList"]
            if _by_iam(lake, each["Name"]) or lake.may_on_database(each["Name"], "")
        ]
    if "TableList" in said:
        said["TableList"] = [
            _narrow(lake, each)
            for each in said["TableList"]
            if _by_iam(lake, each["DatabaseName"])
            or lake.may_on_table(each["DatabaseName"], each["Name"], "")
        ]
    if "Table" in said:
        said["Table"] = _narrow(lake, said["Table"])
    if said == found:
        return answer
    body = json.dumps(said).encode()
    headers = tuple(
        (name, str(len(body)) if name.lower() == "content-length" else value)
        for name, value in answer.headers
    )
    return HttpAnswer(answer.status, headers, body)


def _narrow(lake: Lake, table: dict[str, Any]) -> dict[str, Any]:
    """Return a table with the columns that the caller may see."""
    if _by_iam(lake, table["DatabaseName"]) or "StorageDescriptor" not in table:
        return table
    storage = table["StorageDescriptor"]
    columns = {each["Name"]: each for each in storage.get("Columns", [])}
    shown = lake.shown_columns(table["DatabaseName"], table["Name"], list(columns))
    return table | {"StorageDescriptor": storage | {"Columns": [columns[name] for name in shown]}}


def _grant_database(lake: Lake, made: dict[str, Any]) -> None:
    name, settings = made["Name"], lake.grants.settings
    tables = made.get("CreateTableDefaultPermissions", settings["CreateTableDefaultPermissions"])
    lake.grants.new_tables_by_iam[name] = bool(tables)
    resource = Resource("database", (name,))
    if settings["CreateDatabaseDefaultPermissions"]:
        lake.grants.grant(Grant(IAM_ALLOWED, resource, frozenset({"ALL"})))
    if lake.principal:
        every = PERMISSIONS["database"]
        lake.grants.grant(Grant(lake.principal, resource, every, every))


def _grant_table(lake: Lake, database: str, table: str) -> None:
    resource = Resource("table", (database, table))
    if lake.grants.new_tables_by_iam.get(database, True):
        lake.grants.grant(Grant(IAM_ALLOWED, resource, frozenset({"ALL"})))
    if lake.principal:
        every = PERMISSIONS["table"] - {"SELECT"}
        lake.grants.grant(Grant(lake.principal, resource, every, every))
        read, columns = frozenset({"SELECT"}), Resource("columns", (database, table))
        lake.grants.grant(Grant(lake.principal, columns, read, read))


def _check_database(lake: Lake, database: str, permission: str) -> None:
    if _exists(lake, database):
        allowed = _by_iam(lake, database) or lake.may_on_database(database, permission)
    else:
        allowed = not lake.grants.governs or lake.may_create_databases()
    _check(allowed, permission, database)


def _check_table(lake: Lake, database: str, table: str, permission: str) -> None:
    if _exists(lake, database, table):
        allowed = _by_iam(lake, database) or lake.may_on_table(database, table, permission)
    elif _exists(lake, database):
        creates = lake.administers or lake.may_on_database(database, "CREATE_TABLE")
        allowed = creates or _by_iam(lake, database)
    else:
        allowed = not lake.grants.governs or lake.may_create_databases()
    _check(allowed, permission, table)


def _check_location(lake: Lake, location: str, database_path: str) -> None:
    path = location.partition("://")[2].rstrip("/")
    if path and not lake.may_point_to(path, database_path):
        raise _refusal(f"on {location}")


def _check(allowed: bool, permission: str, name: str) -> None:
    if not allowed:
        words = _WORDS.get(permission)
        raise _refusal(f": Required {words} on {name}" if words else f" on {name}")


def _refusal(end: str) -> AwsError:
    said = f"Insufficient Lake Formation permission(s){'' if end[0] in ' :' else ' '}{end}"
    return AwsError("AccessDeniedException", said, status=400)


def _gives(grant: Grant, permission: str) -> bool:
    """Return whether a grant has a permission; any one shows that the resource is there."""
    return not permission or not grant.permissions.isdisjoint({permission, "ALL"})


def _is_shown(grants: LakeGrants, resource: Resource, column: str) -> bool:
    if resource.kind == "filter":
        found = grants.filters.get(resource.names)
        return found is not None and found.shows(column)
    return resource.shows(column)


def _by_iam(lake: Lake, database: str) -> bool:
    """Return whether a database was made past the gateway, so that only IAM decides on it."""
    return database not in lake.grants.new_tables_by_iam


def _exists(lake: Lake, database: str, table: str | None = None) -> bool:
    found = get_backend("glue")[lake.account][lake.region].databases.get(database)
    return found is not None and (table is None or table in found.tables)


def _location_of(lake: Lake, database: str) -> str:
    found = get_backend("glue")[lake.account][lake.region].databases.get(database)
    uri = str((found.input.get("LocationUri") if found else "") or "")
    return uri.partition("://")[2].rstrip("/")


def _table_name(params: dict[str, Any]) -> str:
    name = params.get("TableName") or params.get("Name")
    return str(name or params.get("TableInput", {}).get("Name", ""))
