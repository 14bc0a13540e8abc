"""A query reads what its caller was granted: columns, rows, and nothing of S3 by its own right."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from localcloud.testing.policies import allow
from tests.lakeformation.conftest import (
    ACCOUNT,
    BUCKET,
    DATABASE,
    EVERY_TABLE,
)
from tests.refusals import refusal

_PLANNED = Path(__file__).parents[3] / "tests/infra/lake_formation/full.policies.yaml"
_NO_PERMISSION = "Insufficient permissions to execute the query. "


def _columns(**columns):
    return {"TableWithColumns": {"DatabaseName": "lake", "Name": "readings", **columns}}


def _filter(name, rows, **columns):
    return {
        "TableCatalogId": ACCOUNT,
        "DatabaseName": "lake",
        "TableName": "readings",
        "Name": name,
        "RowFilter": {"FilterExpression": rows},
        **(columns or {"ColumnWildcard": {}}),
    }


def _on_filter(name):
    return {
        "DataCellsFilter": {
            "TableCatalogId": ACCOUNT,
            "DatabaseName": "lake",
            "TableName": "readings",
            "Name": name,
        }
    }


def test_select_on_every_table_reads_them_with_the_rights_of_the_location(account, analyst):
    account.grant(analyst, DATABASE, "DESCRIBE")
    account.grant(analyst, EVERY_TABLE, "DESCRIBE", "SELECT")

    assert account.ask(analyst, "SELECT * FROM readings ORDER BY value") == [
        ["device", "owner", "value"],
        ["a", "ann", "1.5"],
        ["b", "bob", "2.5"],
        ["b", "bob", "3.5"],
    ]


def test_the_policy_that_terraform_plans_for_an_analyst_is_enough(account, job):
    planned = yaml.safe_load(_PLANNED.read_text())['aws_iam_role_policy.analyst["all"]']
    analyst = account.make_role(
        *(allow(each["may"], [_move(arn) for arn in each["on"]]) for each in planned)
    )
    group = "penstock-analytics-analyst-all"
    account.of("athena").create_work_group(
        Name=group,
        Configuration={
            "EnforceWorkGroupConfiguration": True,
            "ResultConfiguration": {
                "OutputLocation": f"s3://{BUCKET}/athena-results/analysts/all/"
            },
        },
    )
    account.grant(analyst, DATABASE, "DESCRIBE")
    account.grant(analyst, EVERY_TABLE, "DESCRIBE", "SELECT")

    assert account.ask(analyst, "SELECT count(*) AS n FROM readings", WorkGroup=group)[1:] == [
        ["3"]
    ]
    table = {"DatabaseName": "lake", "TableInput": {"Name": "readings"}}
    assert "glue:UpdateTable" in str(refusal(account.of("glue", analyst).update_table, **table))


def _move(arn):
    """Return a resource of the planned account as one of this account."""
    moved = arn.replace("222222222222", ACCOUNT).replace("penstock-analytics-lake", BUCKET)
    return moved.replace("penstock_analytics_lake", "lake")


def test_a_query_without_a_grant_fails(account, analyst):
    account.grant(analyst, DATABASE, "DESCRIBE")

    assert account.ask(analyst, "SELECT * FROM readings") == (
        f"{_NO_PERMISSION}Insufficient Lake Formation permission(s) on readings"
    )
    account.grant(analyst, EVERY_TABLE, "DESCRIBE")
    assert account.ask(analyst, "SELECT * FROM readings") == (
        f"{_NO_PERMISSION}Insufficient Lake Formation permission(s): Required Select on readings"
    )


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_an_analyst_adds_nothing_to_the_catalog(account, analyst, kind):
    account.grant(analyst, DATABASE, "DESCRIBE")
    account.grant(analyst, EVERY_TABLE, "DESCRIBE", "SELECT")

    said = account.ask(analyst, f"CREATE {kind} mine AS SELECT device FROM readings")

    assert said == f"{_NO_PERMISSION}Insufficient Lake Formation permission(s) on mine"


def test_a_query_needs_the_right_to_data_access_in_iam(account, analyst):
    account.grant(analyst, DATABASE, "DESCRIBE")
    account.grant(analyst, EVERY_TABLE, "DESCRIBE", "SELECT")
    account.of("iam").put_role_policy(
        RoleName=analyst.rpartition("/")[2],
        PolicyName="no-data",
        PolicyDocument='{"Version":"2012-10-17","Statement":{"Effect":"Deny",'
        '"Action":"lakeformation:GetDataAccess","Resource":"*"}}',
    )

    said = account.ask(analyst, "SELECT * FROM readings")

    assert said.startswith(f"{_NO_PERMISSION}User: ")
    assert said.endswith(" is not authorized to perform: lakeformation:GetDataAccess")


@pytest.mark.parametrize(
    "columns",
    [
        {"ColumnNames": ["device", "value"]},
        {"ColumnWildcard": {"ExcludedColumnNames": ["owner"]}},
    ],
    ids=["included", "excluded"],
)
def test_a_star_is_the_granted_columns_and_another_one_is_not_found(account, analyst, columns):
    account.grant(analyst, DATABASE, "DESCRIBE")
    account.grant(analyst, _columns(**columns), "SELECT")

    assert account.ask(analyst, "SELECT * FROM readings WHERE value < 3 ORDER BY value") == [
        ["device", "value"],
        ["a", "1.5"],
        ["b", "2.5"],
    ]
    assert account.ask(analyst, "SELECT owner FROM readings") == (
        "COLUMN_NOT_FOUND: line 1:8: Column 'owner' cannot be resolved or requester is not "
        "authorized to access requested resources"
    )


def test_a_data_filter_shows_its_rows_by_a_column_that_it_hides(account, analyst):
    lake = account.of("lakeformation")
    lake.create_data_cells_filter(
        TableData=_filter("of-bob", "owner = 'bob'", ColumnNames=["device", "value"])
    )
    account.grant(analyst, DATABASE, "DESCRIBE")
    account.grant(analyst, _on_filter("of-bob"), "SELECT")

    assert account.ask(analyst, "SELECT * FROM readings ORDER BY value") == [
        ["device", "value"],
        ["b", "2.5"],
        ["b", "3.5"],
    ]
    lake.update_data_cells_filter(TableData=_filter("of-bob", "owner = 'bob' AND value > 3"))
    assert account.ask(analyst, "SELECT * FROM readings") == [
        ["device", "owner", "value"],
        ["b", "bob", "3.5"],
    ]
    lake.delete_data_cells_filter(**_on_filter("of-bob")["DataCellsFilter"])
    assert account.ask(analyst, "SELECT * FROM readings").startswith(_NO_PERMISSION)


def test_two_data_filters_at_once_are_refused_by_name(account, analyst):
    lake = account.of("lakeformation")
    account.grant(analyst, DATABASE, "DESCRIBE")
    for name in ("one", "two"):
        lake.create_data_cells_filter(TableData=_filter(name, "value > 1"))
        account.grant(analyst, _on_filter(name), "SELECT")

    assert account.ask(analyst, "SELECT * FROM readings") == (
        "localcloud applies one data filter of a table and no other grant beside it; "
        "lake.readings has one, two"
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("missing = 1", "Column missing of the filter does not exist"),
        ("value = (SELECT 1)", "A filter expression has no subquery; found value = (SELECT 1)"),
        ("value >", "Invalid filter expression value >"),
        ("value > 1 LIMIT 1", "Invalid filter expression value > 1 LIMIT 1"),
    ],
)
def test_a_data_filter_has_a_condition_over_columns(account, job, rows, said):
    lake = account.of("lakeformation")

    assert refusal(lake.create_data_cells_filter, TableData=_filter("bad", rows)) == (
        "InvalidInputException",
        said,
    )


def test_a_location_that_is_not_registered_is_read_with_the_callers_own_rights(account, analyst):
    account.of("s3").put_object(Bucket=BUCKET, Key="open/a.json", Body=b'{"id": 7}\n')
    glue = account.of("glue")
    glue.create_table(
        DatabaseName="lake",
        TableInput={
            "Name": "open",
            "StorageDescriptor": {
                "Columns": [{"Name": "id", "Type": "int"}],
                "Location": f"s3://{BUCKET}/open/",
                "SerdeInfo": {"SerializationLibrary": "org.openx.data.jsonserde.JsonSerDe"},
            },
            "PartitionKeys": [],
        },
    )
    account.grant(analyst, DATABASE, "DESCRIBE")
    account.grant(analyst, EVERY_TABLE, "DESCRIBE")
    reader = account.make_role(
        allow(["athena:*", "glue:*"]),
        allow(["s3:*"], [f"arn:aws:s3:::{BUCKET}", f"arn:aws:s3:::{BUCKET}/*"]),
    )
    account.grant(reader, EVERY_TABLE, "DESCRIBE")
    try:
        assert account.ask(analyst, "SELECT * FROM open").startswith("PERMISSION_DENIED: ")
        assert account.ask(reader, "SELECT * FROM open") == [["id"], ["7"]]
    finally:
        glue.delete_table(DatabaseName="lake", Name="open")


def test_the_role_of_a_location_must_trust_lake_formation(account, analyst):
    account.grant(analyst, DATABASE, "DESCRIBE")
    account.grant(analyst, EVERY_TABLE, "SELECT")
    lake = account.of("lakeformation")
    place = f"arn:aws:s3:::{BUCKET}/tables"
    role = lake.describe_resource(ResourceArn=place)["ResourceInfo"]["RoleArn"]
    lake.update_resource(ResourceArn=place, RoleArn=account.make_role(allow("s3:*")))
    try:
        said = account.ask(analyst, "SELECT * FROM readings")
    finally:
        lake.update_resource(ResourceArn=place, RoleArn=role)

    assert said.endswith(" does not let lakeformation.amazonaws.com assume it")
