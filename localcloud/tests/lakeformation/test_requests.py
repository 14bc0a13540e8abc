"""Grants, locations and filters as Terraform's provider writes and reads them."""

from __future__ import annotations

import pytest

from localcloud.testing.policies import allow
from tests.lakeformation.conftest import (
    ACCOUNT,
    BUCKET,
    DATABASE,
    EVERY_TABLE,
    LOCATION,
    READINGS,
)
from tests.refusals import refusal

_INVALID, _MISSING = "InvalidInputException", "EntityNotFoundException"
_MINE = {"CatalogId": ACCOUNT, "DatabaseName": "lake"}


def _listed(account, role, resource):
    found = account.of("lakeformation").list_permissions(
        Principal={"DataLakePrincipalIdentifier": role}, Resource=resource
    )["PrincipalResourcePermissions"]
    return [(each["Resource"], each["Permissions"]) for each in found]


def test_select_on_a_table_is_listed_as_a_grant_on_its_columns(account, analyst):
    account.grant(analyst, READINGS, "SELECT", "DESCRIBE")
    account.grant(analyst, EVERY_TABLE, "SELECT", "DESCRIBE")

    assert _listed(account, analyst, READINGS) == [
        ({"Table": {**_MINE, "Name": "readings"}}, ["DESCRIBE"]),
        ({"TableWithColumns": {**_MINE, "Name": "readings", "ColumnWildcard": {}}}, ["SELECT"]),
    ]
    every = {**_MINE, "Name": "ALL_TABLES"}
    assert _listed(account, analyst, EVERY_TABLE) == [
        ({"Table": {**every, "TableWildcard": {}}}, ["DESCRIBE"]),
        ({"TableWithColumns": {**every, "ColumnWildcard": {}}}, ["SELECT"]),
    ]


def test_a_grant_is_revoked_once(account, analyst):
    account.grant(analyst, DATABASE, "DESCRIBE", "CREATE_TABLE")
    account.revoke(analyst, DATABASE, "CREATE_TABLE")
    assert _listed(account, analyst, DATABASE) == [
        ({"Database": {"CatalogId": ACCOUNT, "Name": "lake"}}, ["DESCRIBE"])
    ]

    account.revoke(analyst, DATABASE, "DESCRIBE")

    assert _listed(account, analyst, DATABASE) == []
    lake = account.of("lakeformation")
    assert refusal(
        lake.revoke_permissions,
        Principal={"DataLakePrincipalIdentifier": analyst},
        Resource=DATABASE,
        Permissions=["DESCRIBE"],
    ) == (
        _INVALID,
        "No permissions revoked. Grantee has no permissions and no grantable permissions on "
        "resource",
    )


def test_a_batch_grants_what_it_can_and_returns_the_rest(account, analyst):
    lake, who = account.of("lakeformation"), {"DataLakePrincipalIdentifier": analyst}
    missing = {"Table": {"DatabaseName": "lake", "Name": "nothing"}}
    entries = [
        {"Id": "1", "Principal": who, "Resource": DATABASE, "Permissions": ["DESCRIBE"]},
        {"Id": "2", "Principal": who, "Resource": missing, "Permissions": ["DESCRIBE"]},
    ]

    failures = lake.batch_grant_permissions(Entries=entries)["Failures"]

    assert [(each["RequestEntry"]["Id"], each["Error"]) for each in failures] == [
        ("2", {"ErrorCode": _MISSING, "ErrorMessage": "Table not found."})
    ]
    assert lake.batch_revoke_permissions(Entries=entries[:1])["Failures"] == []
    assert _listed(account, analyst, DATABASE) == []


@pytest.mark.parametrize(
    ("resource", "permission", "expected"),
    [
        ({"Database": {"Name": "none"}}, "DESCRIBE", (_MISSING, "Database none not found.")),
        (
            {
                "TableWithColumns": {
                    "DatabaseName": "lake",
                    "Name": "readings",
                    "ColumnNames": ["nothing"],
                }
            },
            "SELECT",
            (_INVALID, "You cannot grant/revoke permission on non-existent column nothing"),
        ),
        (
            {"DataLocation": {"ResourceArn": "arn:aws:s3:::other/path"}},
            "DATA_LOCATION_ACCESS",
            (_INVALID, "You must register the S3 path arn:aws:s3:::other/path first"),
        ),
        (DATABASE, "SELECT", (_INVALID, "SELECT is no permission on database")),
        (
            {"LFTag": {"TagKey": "k", "TagValues": ["v"]}},
            "DESCRIBE",
            (
                _INVALID,
                "localcloud has one resource of Catalog, Database, DataCellsFilter, DataLocation, "
                "Table, TableWithColumns; found LFTag",
            ),
        ),
    ],
)
def test_a_grant_is_on_what_exists(account, analyst, resource, permission, expected):
    lake = account.of("lakeformation")

    assert (
        refusal(
            lake.grant_permissions,
            Principal={"DataLakePrincipalIdentifier": analyst},
            Resource=resource,
            Permissions=[permission],
        )
        == expected
    )


def test_a_grant_is_to_a_role_that_exists(account, job):
    lake, nobody = account.of("lakeformation"), f"arn:aws:iam::{ACCOUNT}:role/nobody"

    code, said = refusal(
        lake.grant_permissions,
        Principal={"DataLakePrincipalIdentifier": nobody},
        Resource=DATABASE,
        Permissions=["DESCRIBE"],
    )

    assert (code, said) == (_INVALID, f"Invalid principal, {nobody}")


def test_a_location_is_registered_once_with_a_role_that_the_caller_may_pass(account):
    lake = account.of("lakeformation")
    role = lake.describe_resource(ResourceArn=LOCATION)["ResourceInfo"]["RoleArn"]

    assert refusal(lake.register_resource, ResourceArn=LOCATION, RoleArn=role) == (
        "AlreadyExistsException",
        "Resource is already registered",
    )
    other = f"arn:aws:s3:::{BUCKET}/other"
    registrar = account.make_role(allow("lakeformation:*"))
    code, said = refusal(
        account.of("lakeformation", registrar).register_resource, ResourceArn=other, RoleArn=role
    )
    assert code == "AccessDeniedException"
    assert "iam:PassRole" in said
    code, said = refusal(
        lake.register_resource, ResourceArn=other, UseServiceLinkedRole=True, RoleArn=role
    )
    assert (code, said.rpartition("; ")[2]) == (_INVALID, "found UseServiceLinkedRole")
    lake.register_resource(ResourceArn=other, RoleArn=role)
    listed = lake.list_resources()["ResourceInfoList"]
    assert [each["ResourceArn"] for each in listed] == [LOCATION, other]
    lake.deregister_resource(ResourceArn=other)
    assert refusal(lake.describe_resource, ResourceArn=other) == (_MISSING, "Entity not found")


def test_a_filter_is_described_as_it_was_created(account, job):
    lake = account.of("lakeformation")
    data = {
        "TableCatalogId": ACCOUNT,
        "DatabaseName": "lake",
        "TableName": "readings",
        "Name": "shown",
        "RowFilter": {"AllRowsWildcard": {}},
        "ColumnWildcard": {"ExcludedColumnNames": ["owner"]},
    }
    names = {name: data[name] for name in ("TableCatalogId", "DatabaseName", "TableName", "Name")}
    lake.create_data_cells_filter(TableData=data)

    found = lake.get_data_cells_filter(**names)["DataCellsFilter"]

    assert {name: found[name] for name in data} == data
    assert lake.list_data_cells_filter(Table={"DatabaseName": "lake", "Name": "readings"})[
        "DataCellsFilters"
    ]
    code, _ = refusal(lake.create_data_cells_filter, TableData=data)
    assert code == "AlreadyExistsException"
    lake.delete_data_cells_filter(**names)
    assert refusal(lake.get_data_cells_filter, **names) == (
        _MISSING,
        "Data cells filter shown not found.",
    )
