"""An account that Lake Formation governs, with a lake that a job's role wrote and an analyst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.glue import GlueCatalog

from localcloud.testing import wait_until
from localcloud.testing.policies import allow, keys_of, make_role, trust

ACCOUNT = "444444444444"
BUCKET = "governed-lake"
LOCATION = f"arn:aws:s3:::{BUCKET}/tables"
_S3 = allow(["s3:GetObject", "s3:PutObject", "s3:ListBucket"], f"arn:aws:s3:::{BUCKET}*")
_RESULTS = allow(
    ["s3:PutObject", "s3:GetObject", "s3:GetBucketLocation"],
    [f"arn:aws:s3:::{BUCKET}", f"arn:aws:s3:::{BUCKET}/results/*"],
)
_FINAL = ("SUCCEEDED", "FAILED", "CANCELLED")


@dataclass(frozen=True, slots=True)
class Governed:
    """The account: clients of its key and of roles, and grants that its administrator makes."""

    endpoint: str
    client: Any

    def of(self, service, role=None):
        """Open a client, with the keys of the account or of a role."""
        if role is None:
            return self.client(service, account=ACCOUNT)
        return self.client(service, **self.keys(role))

    def keys(self, role):
        sts = self.client("sts", account=ACCOUNT)
        return keys_of(sts.assume_role(RoleArn=role, RoleSessionName="run")["Credentials"])

    def make_role(self, *statements, service=None):
        trusted = trust({"Service": service} if service else ACCOUNT)
        return make_role(self.of("iam"), trusted, *statements)

    def make_analyst(self):
        """Make a role that may use Athena, with no right on the tables' objects."""
        return self.make_role(
            allow(["athena:*", "glue:*", "lakeformation:GetDataAccess"]),
            _RESULTS,
        )

    def grant(self, role, resource, *permissions, by=None):
        self.of("lakeformation", by).grant_permissions(
            Principal={"DataLakePrincipalIdentifier": role},
            Resource=resource,
            Permissions=list(permissions),
        )

    def revoke(self, role, resource, *permissions):
        self.of("lakeformation").revoke_permissions(
            Principal={"DataLakePrincipalIdentifier": role},
            Resource=resource,
            Permissions=list(permissions),
        )

    def catalog_of(self, role):
        """Open the catalog with Iceberg's own client, as a role."""
        keys = self.keys(role)
        return GlueCatalog(
            "lake",
            client=self.client("glue", **keys),
            **{
                "s3.endpoint": self.endpoint,
                "s3.region": "eu-central-1",
                "s3.access-key-id": keys["aws_access_key_id"],
                "s3.secret-access-key": keys["aws_secret_access_key"],
                "s3.session-token": keys["aws_session_token"],
            },
        )

    def ask(self, role, sql, database="lake", **settings):
        """Run a query as a role; return its rows, or its reason if it fails."""
        athena = self.of("athena", role)
        output = {"ResultConfiguration": {"OutputLocation": f"s3://{BUCKET}/results/"}}
        query = athena.start_query_execution(
            QueryString=sql,
            QueryExecutionContext={"Database": database},
            **(settings or output),
        )["QueryExecutionId"]

        def ended():
            found = athena.get_query_execution(QueryExecutionId=query)["QueryExecution"]["Status"]
            return found if found["State"] in _FINAL else None

        status = wait_until(f"the end of query {query}", ended, 120)
        if status["State"] != "SUCCEEDED":
            return status["StateChangeReason"]
        rows = athena.get_query_results(QueryExecutionId=query)["ResultSet"]["Rows"]
        return [[cell.get("VarCharValue") for cell in row["Data"]] for row in rows]


DATABASE = {"Database": {"Name": "lake"}}
EVERY_TABLE = {"Table": {"DatabaseName": "lake", "TableWildcard": {}}}
READINGS = {"Table": {"DatabaseName": "lake", "Name": "readings"}}
IAM_ONLY = [
    {
        "Principal": {"DataLakePrincipalIdentifier": "IAM_ALLOWED_PRINCIPALS"},
        "Permissions": ["ALL"],
    }
]


@pytest.fixture(scope="session")
def account(cloud, client):
    """An account whose catalog Lake Formation governs."""
    made = Governed(cloud.endpoint, client)
    lake = made.of("lakeformation")
    lake.put_data_lake_settings(
        DataLakeSettings={
            "CreateDatabaseDefaultPermissions": [],
            "CreateTableDefaultPermissions": [],
        }
    )
    made.revoke("IAM_ALLOWED_PRINCIPALS", {"Catalog": {}}, "CREATE_DATABASE")
    where = {"LocationConstraint": "eu-central-1"}
    made.of("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=where)
    reader = made.make_role(_S3, service="lakeformation.amazonaws.com")
    lake.register_resource(ResourceArn=LOCATION, RoleArn=reader)
    made.of("glue").create_database(
        DatabaseInput={"Name": "lake", "LocationUri": f"s3://{BUCKET}/tables/"}
    )
    return made


@pytest.fixture(scope="session")
def job(account):
    """A role with the grants of the jobs, which made the table `readings` with three rows."""
    role = account.make_role(allow("glue:*"), _S3)
    account.grant(role, DATABASE, "DESCRIBE", "CREATE_TABLE")
    account.grant(role, EVERY_TABLE, "SELECT", "ALTER", "DESCRIBE", "INSERT")
    rows = pa.table(
        {"device": ["a", "b", "b"], "owner": ["ann", "bob", "bob"], "value": [1.5, 2.5, 3.5]}
    )
    table = account.catalog_of(role).create_table(
        ("lake", "readings"), rows.schema, location=f"s3://{BUCKET}/tables/readings"
    )
    table.append(rows)
    return role


@pytest.fixture
def analyst(account, job):
    """A role that may use Athena, without a grant yet."""
    return account.make_analyst()
