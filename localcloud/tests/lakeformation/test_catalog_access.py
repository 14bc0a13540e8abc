"""Calls on the Glue catalog need a grant besides the right in IAM."""

from __future__ import annotations

import pytest

from localcloud.testing.policies import allow, keys_of, make_role, trust
from tests.lakeformation.conftest import (
    ACCOUNT,
    BUCKET,
    DATABASE,
    EVERY_TABLE,
    IAM_ONLY,
    LOCATION,
    READINGS,
)
from tests.refusals import refusal

_DENIED = "AccessDeniedException"
_WORDS = "Insufficient Lake Formation permission(s)"


def _described(glue):
    return glue.get_table(DatabaseName="lake", Name="readings")["Table"]


def _columns(glue):
    return [each["Name"] for each in _described(glue)["StorageDescriptor"]["Columns"]]


@pytest.fixture
def role(account, job):
    """A role that IAM lets do everything in the catalog."""
    return account.make_role(allow("glue:*"))


def test_iam_alone_decides_on_what_is_made_before_lake_formation_governs(client, account):
    glue = client("glue", account="555555555555")
    glue.create_database(DatabaseInput={"Name": "open"})
    glue.create_table(DatabaseName="open", TableInput={"Name": "t"})
    listed = client("lakeformation", account="555555555555").list_permissions()

    found = {
        tuple(each["Resource"]): (each["Principal"], each["Permissions"])
        for each in listed["PrincipalResourcePermissions"]
    }

    everybody = {"DataLakePrincipalIdentifier": "IAM_ALLOWED_PRINCIPALS"}
    assert found == {
        ("Catalog",): (everybody, ["CREATE_DATABASE"]),
        ("Database",): (everybody, ["ALL"]),
        ("Table",): (everybody, ["ALL"]),
    }


def test_a_role_without_a_grant_sees_nothing(account, role):
    glue = account.of("glue", role)

    assert refusal(glue.get_database, Name="lake") == (_DENIED, f"{_WORDS} on lake")
    assert refusal(glue.get_table, DatabaseName="lake", Name="readings") == (
        _DENIED,
        f"{_WORDS} on readings",
    )
    assert refusal(glue.get_tables, DatabaseName="lake") == (_DENIED, f"{_WORDS} on lake")
    assert glue.get_databases()["DatabaseList"] == []


def test_a_missing_table_is_refused_like_one_without_a_grant(account, role, job):
    glue = account.of("glue", role)

    assert refusal(glue.get_table, DatabaseName="lake", Name="nothing") == (
        _DENIED,
        f"{_WORDS} on nothing",
    )
    assert refusal(glue.get_database, Name="nothing") == (_DENIED, f"{_WORDS} on nothing")
    creator = account.of("glue", job)
    code, _ = refusal(creator.get_table, DatabaseName="lake", Name="nothing")
    assert code == "EntityNotFoundException"


def test_a_grant_on_a_database_shows_it_without_its_tables(account, role):
    account.grant(role, DATABASE, "DESCRIBE")
    glue = account.of("glue", role)

    assert glue.get_database(Name="lake")["Database"]["Name"] == "lake"
    assert glue.get_tables(DatabaseName="lake")["TableList"] == []
    said = f"{_WORDS}: Required Create Table on lake"
    made = {"Name": "mine", "StorageDescriptor": {"Location": f"s3://{BUCKET}/tables/mine"}}
    assert refusal(glue.create_table, DatabaseName="lake", TableInput=made) == (_DENIED, said)
    assert refusal(glue.delete_database, Name="lake") == (
        _DENIED,
        f"{_WORDS}: Required Drop on lake",
    )
    update = {"Name": "lake", "DatabaseInput": {"Name": "lake"}}
    assert refusal(glue.update_database, **update) == (
        _DENIED,
        f"{_WORDS}: Required Alter on lake",
    )


def test_a_grant_on_every_table_shows_the_database_and_alters_nothing(account, role):
    account.grant(role, EVERY_TABLE, "DESCRIBE", "SELECT")
    glue = account.of("glue", role)

    assert glue.get_database(Name="lake")["Database"]["Name"] == "lake"
    assert [each["Name"] for each in glue.get_tables(DatabaseName="lake")["TableList"]] == [
        "readings"
    ]
    assert _columns(glue) == ["device", "owner", "value"]
    table = {"Name": "readings", "StorageDescriptor": _described(glue)["StorageDescriptor"]}
    assert refusal(glue.update_table, DatabaseName="lake", TableInput=table) == (
        _DENIED,
        f"{_WORDS}: Required Alter on readings",
    )
    assert refusal(glue.delete_table, DatabaseName="lake", Name="readings") == (
        _DENIED,
        f"{_WORDS}: Required Drop on readings",
    )


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ({"ColumnNames": ["device", "value"]}, ["device", "value"]),
        ({"ColumnWildcard": {"ExcludedColumnNames": ["device"]}}, ["owner", "value"]),
    ],
)
def test_a_grant_on_columns_shows_those_alone(account, role, columns, shown):
    on = {"TableWithColumns": {"DatabaseName": "lake", "Name": "readings", **columns}}
    account.grant(role, on, "SELECT")

    assert _columns(account.of("glue", role)) == shown


def test_the_creator_of_a_table_has_every_permission_on_it(account, job):
    glue = account.of("glue", job)
    made = {"Name": "mine", "StorageDescriptor": {"Location": f"s3://{BUCKET}/tables/mine"}}
    glue.create_table(DatabaseName="lake", TableInput=made)

    glue.delete_table(DatabaseName="lake", Name="mine")

    listed = account.of("lakeformation").list_permissions()["PrincipalResourcePermissions"]
    assert not [each for each in listed if each["Resource"].get("Table", {}).get("Name") == "mine"]


def test_the_grants_of_a_maintenance_commit_to_a_table_and_make_none(account, job):
    s3 = allow(["s3:GetObject", "s3:PutObject", "s3:ListBucket"], f"arn:aws:s3:::{BUCKET}*")
    role = account.make_role(allow("glue:*"), s3)
    account.grant(role, EVERY_TABLE, "ALTER", "DESCRIBE")
    table = account.catalog_of(role).load_table(("lake", "readings"))

    with table.transaction() as change:
        change.set_properties({"maintained": "yes"})

    assert account.catalog_of(job).load_table(("lake", "readings")).properties["maintained"]
    code, _ = refusal(
        account.of("glue", role).create_table, DatabaseName="lake", TableInput={"Name": "other"}
    )
    assert code == _DENIED


def test_a_table_elsewhere_in_a_registered_location_needs_the_permission_on_it(account, job):
    glue = account.of("glue", job)
    account.of("glue").create_database(DatabaseInput={"Name": "elsewhere"})
    account.grant(job, {"Database": {"Name": "elsewhere"}}, "CREATE_TABLE")
    place = f"s3://{BUCKET}/tables/other"
    made = {"Name": "other", "StorageDescriptor": {"Location": place}}

    assert refusal(glue.create_table, DatabaseName="elsewhere", TableInput=made) == (
        _DENIED,
        f"{_WORDS} on {place}",
    )
    account.grant(job, {"DataLocation": {"ResourceArn": LOCATION}}, "DATA_LOCATION_ACCESS")
    glue.create_table(DatabaseName="elsewhere", TableInput=made)


def test_an_administrator_describes_everything_and_creates_databases(account, role):
    lake, glue = account.of("lakeformation"), account.of("glue", role)
    made = {"DatabaseInput": {"Name": "made"}}
    assert refusal(glue.create_database, **made) == (
        _DENIED,
        f"{_WORDS}: Required Create Database on Catalog",
    )
    settings = lake.get_data_lake_settings()["DataLakeSettings"]
    admins = [{"DataLakePrincipalIdentifier": role}]
    lake.put_data_lake_settings(DataLakeSettings=settings | {"DataLakeAdmins": admins})
    try:
        glue.create_database(**made)
        glue.delete_database(Name="made")
        assert _columns(glue) == ["device", "owner", "value"]
        code, _ = refusal(glue.get_table, DatabaseName="lake", Name="nothing")
        assert code == "EntityNotFoundException"
        assert refusal(glue.delete_table, DatabaseName="lake", Name="readings")[0] == _DENIED
    finally:
        lake.put_data_lake_settings(DataLakeSettings=settings)


def test_only_a_principal_with_the_grant_option_grants_a_permission(account, role, job, analyst):
    iam = account.of("iam")
    iam.put_role_policy(
        RoleName=role.rpartition("/")[2],
        PolicyName="lake",
        PolicyDocument='{"Version":"2012-10-17","Statement":{"Effect":"Allow",'
        '"Action":"lakeformation:*","Resource":"*"}}',
    )
    entry = {
        "Principal": {"DataLakePrincipalIdentifier": analyst},
        "Resource": READINGS,
        "Permissions": ["DESCRIBE"],
    }
    own = account.of("lakeformation", role)

    assert refusal(own.grant_permissions, **entry) == (
        _DENIED,
        f"{_WORDS}: Required DESCRIBE with grant option",
    )
    account.of("lakeformation").grant_permissions(
        Principal={"DataLakePrincipalIdentifier": role},
        Resource=READINGS,
        Permissions=["DESCRIBE"],
        PermissionsWithGrantOption=["DESCRIBE"],
    )
    own.grant_permissions(**entry)
    listed = own.list_permissions(Resource=READINGS)["PrincipalResourcePermissions"]
    assert [each["Principal"]["DataLakePrincipalIdentifier"] for each in listed] == [role]


def test_settings_leave_new_tables_to_iam_or_to_lake_formation(account):
    lake = account.of("lakeformation")
    wrong = [{"Principal": {"DataLakePrincipalIdentifier": ACCOUNT}, "Permissions": ["ALL"]}]

    code, said = refusal(
        lake.put_data_lake_settings,
        DataLakeSettings={"CreateTableDefaultPermissions": wrong},
    )

    assert (code, said.partition(",")[0]) == (
        "InvalidInputException",
        "CreateTableDefaultPermissions must be empty or grant ALL to IAM_ALLOWED_PRINCIPALS",
    )
    glue = account.of("glue")
    made = {"Name": "of_iam", "CreateTableDefaultPermissions": IAM_ONLY}
    glue.create_database(DatabaseInput=made)
    glue.create_table(DatabaseName="of_iam", TableInput={"Name": "t"})
    role = account.make_role(allow("glue:*"))
    found = account.of("glue", role).get_table(DatabaseName="of_iam", Name="t")["Table"]
    assert found["Name"] == "t"


def test_a_database_that_iam_decided_on_is_closed_by_hand(client):
    """As docs/lake-permissions.md, "Hand the lake to Lake Formation", does."""
    owner = "666666666666"
    glue, lake = client("glue", account=owner), client("lakeformation", account=owner)
    glue.create_database(DatabaseInput={"Name": "old"})
    glue.create_table(DatabaseName="old", TableInput={"Name": "old"})
    role = make_role(client("iam", account=owner), trust(owner), allow("glue:*"))
    sts = client("sts", account=owner)
    keys = keys_of(sts.assume_role(RoleArn=role, RoleSessionName="run")["Credentials"])
    other = client("glue", **keys)
    assert other.get_table(DatabaseName="old", Name="old")["Table"]["Name"] == "old"

    lake.put_data_lake_settings(DataLakeSettings={})
    glue.update_database(
        Name="old", DatabaseInput={"Name": "old", "CreateTableDefaultPermissions": []}
    )
    everybody = {"DataLakePrincipalIdentifier": "IAM_ALLOWED_PRINCIPALS"}
    for resource in (
        {"Table": {"DatabaseName": "old", "Name": "old"}},
        {"Database": {"Name": "old"}},
    ):
        lake.revoke_permissions(Principal=everybody, Resource=resource, Permissions=["ALL"])
    glue.create_table(DatabaseName="old", TableInput={"Name": "new"})

    assert other.get_databases()["DatabaseList"] == []
    for table in ("old", "new"):
        refused = refusal(other.get_table, DatabaseName="old", Name=table)
        assert refused == (_DENIED, f"{_WORDS} on {table}")


def test_a_read_only_administrator_sees_the_catalog_and_all_grants_and_changes_nothing(
    account, job
):
    reader = account.make_role(allow(["glue:*", "lakeformation:*"]))
    settings = account.of("lakeformation")
    before = settings.get_data_lake_settings()["DataLakeSettings"]
    lake, glue = account.of("lakeformation", reader), account.of("glue", reader)
    assert _list_principals(lake) == set()
    named = {"ReadOnlyAdmins": [{"DataLakePrincipalIdentifier": reader}]}
    settings.put_data_lake_settings(DataLakeSettings=before | named)
    try:
        assert job in _list_principals(lake)
        assert _columns(glue)
        refused = [
            refusal(glue.create_database, DatabaseInput={"Name": "another"}),
            refusal(
                lake.grant_permissions,
                Principal={"DataLakePrincipalIdentifier": reader},
                Resource=DATABASE,
                Permissions=["DESCRIBE"],
            ),
        ]
    finally:
        settings.put_data_lake_settings(DataLakeSettings=before)
    assert [code for code, _ in refused] == [_DENIED, _DENIED]


def _list_principals(lake):
    found = lake.list_permissions(Resource=DATABASE)["PrincipalResourcePermissions"]
    return {each["Principal"]["DataLakePrincipalIdentifier"] for each in found}
