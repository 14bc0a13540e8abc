"""Lake Formation's grants on a Glue catalog: who holds which permission on which resource.

A principal holds what was granted to it, to every principal of its account, or to the group
IAM_ALLOWED_PRINCIPALS, which leaves the decision to IAM. A grant on all tables of a database
is a permission to describe the database too: Lake Formation Developer Guide, "Granting table
permissions using the named resource method".
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

ALL_TABLES = "ALL_TABLES"
IAM_ALLOWED = "IAM_ALLOWED_PRINCIPALS"
LOCATION_ACCESS = "DATA_LOCATION_ACCESS"
# Lake Formation Developer Guide, "Lake Formation permissions reference", by kind of resource.
PERMISSIONS = {
    "catalog": frozenset({"CREATE_DATABASE"}),
    "columns": frozenset({"SELECT"}),
    "database": frozenset({"ALL", "ALTER", "CREATE_TABLE", "DESCRIBE", "DROP"}),
    "filter": frozenset({"DESCRIBE", "DROP", "SELECT"}),
    "location": frozenset({LOCATION_ACCESS}),
    "table": frozenset({"ALL", "ALTER", "DELETE", "DESCRIBE", "DROP", "INSERT", "SELECT"}),
}
_IAM_ONLY = {"Principal": {"DataLakePrincipalIdentifier": IAM_ALLOWED}, "Permissions": ["ALL"]}


@dataclass(frozen=True, slots=True)
class Resource:
    """The object of a grant: its kind, its names, and for columns those included or excluded.

    The names are those of the database, the table and the filter, or an S3 path.
    """

    kind: str
    names: tuple[str, ...] = ()
    columns: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    def shows(self, column: str) -> bool:
        """Return whether a column is in it."""
        return column in self.columns if self.columns is not None else column not in self.without

    def covers_table(self, database: str, table: str) -> bool:
        """Return whether it is a table, all tables, columns or a filter of this table."""
        return self.names[:1] == (database,) and self.names[1:2] in {(table,), (ALL_TABLES,)}


CATALOG = Resource("catalog")


@dataclass(frozen=True, slots=True)
class Grant:
    """Permissions of a principal on a resource; it may pass the grantable ones on."""

    principal: str
    resource: Resource
    permissions: frozenset[str]
    grantable: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CellFilter:
    """A data filter: the resource of grants on it, its columns, and a condition on the rows."""

    resource: Resource
    columns: Resource
    rows: str | None
    described: dict[str, Any] = field(repr=False)

    def shows(self, column: str) -> bool:
        """Return whether a column is in it."""
        return self.columns.shows(column)


@dataclass(frozen=True, slots=True)
class Location:
    """A registered location: an S3 path below which a role reads for those with grants."""

    arn: str
    role_arn: str

    @property
    def path(self) -> str:
        """The path, BUCKET/PREFIX."""
        return self.arn.rpartition(":::")[2].rstrip("/")


def is_below(path: str, folder: str) -> bool:
    """Return whether an S3 path, BUCKET/PREFIX, is a folder or below it."""
    return path == folder or path.startswith(f"{folder}/")


@dataclass(slots=True)
class LakeGrants:
    """Lake Formation in an account and region; at first it leaves everything to IAM."""

    settings: dict[str, Any] = field(
        default_factory=lambda: {
            "DataLakeAdmins": [],
            "ReadOnlyAdmins": [],
            "CreateDatabaseDefaultPermissions": [_IAM_ONLY],
            "CreateTableDefaultPermissions": [_IAM_ONLY],
            "TrustedResourceOwners": [],
            "AllowExternalDataFiltering": False,
            "ExternalDataFilteringAllowList": [],
        }
    )
    locations: dict[str, Location] = field(default_factory=dict)
    filters: dict[tuple[str, ...], CellFilter] = field(default_factory=dict)
    # By database: whether IAM alone decides on its new tables.
    new_tables_by_iam: dict[str, bool] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    _grants: list[Grant] = field(
        default_factory=lambda: [Grant(IAM_ALLOWED, CATALOG, PERMISSIONS["catalog"])]
    )

    @property
    def governs(self) -> bool:
        """Return whether Lake Formation decides on new databases, and not IAM alone."""
        return not self.settings["CreateDatabaseDefaultPermissions"]

    def is_admin(self, principal: str) -> bool:
        """Return whether a principal administers the data lake."""
        return self._is_among("DataLakeAdmins", principal)

    def may_see(self, principal: str) -> bool:
        """Return whether a principal sees the catalog and all grants.

        Lake Formation Developer Guide, "Lake Formation personas": a read-only administrator does.
        """
        return self.is_admin(principal) or self._is_among("ReadOnlyAdmins", principal)

    def _is_among(self, setting: str, principal: str) -> bool:
        named = self.settings.get(setting, [])
        return principal in [each["DataLakePrincipalIdentifier"] for each in named]

    def list_grants(self) -> list[Grant]:
        """List all grants."""
        with self.lock:
            return list(self._grants)

    def held_by(self, principal: str) -> Iterator[Grant]:
        """Yield the grants that count for a principal."""
        account = principal.split(":")[4] if principal.count(":") >= 5 else ""
        names = {principal, IAM_ALLOWED, f"{account}:IAMPrincipals"}
        return (grant for grant in self.list_grants() if grant.principal in names)

    def grant(self, new: Grant) -> None:
        """Add a grant to what the principal has on the resource."""
        with self.lock:
            old = self._take(new)
            self._grants.append(
                replace(
                    new,
                    permissions=old.permissions | new.permissions,
                    grantable=old.grantable | new.grantable,
                )
            )

    def revoke(self, lost: Grant) -> bool:
        """Take permissions from a principal; return whether it had any of them."""
        with self.lock:
            old = self._take(lost)
            grantable = old.grantable - lost.grantable - lost.permissions
            left = replace(old, permissions=old.permissions - lost.permissions, grantable=grantable)
            if left.permissions or left.grantable:
                self._grants.append(left)
            return left != old

    def forget(self, *names: str) -> None:
        """Drop the grants and filters of a database, table or filter that is deleted."""
        with self.lock:
            self._grants = [
                each for each in self._grants if each.resource.names[: len(names)] != names
            ]
            for key in [key for key in self.filters if key[: len(names)] == names]:
                del self.filters[key]
            self.new_tables_by_iam.pop("/".join(names), None)  # a database has one name

    def find_location(self, path: str) -> Location | None:
        """Return the registered location that an S3 path is in, the deepest one."""
        found = [each for each in self.locations.values() if is_below(path, each.path)]
        return max(found, key=lambda each: len(each.path), default=None)

    def _take(self, like: Grant) -> Grant:
        """Remove and return the grant of the same principal on the same resource."""
        for grant in self._grants:
            if (grant.principal, grant.resource) == (like.principal, like.resource):
                self._grants.remove(grant)
                return grant
        return Grant(like.principal, like.resource, frozenset())
