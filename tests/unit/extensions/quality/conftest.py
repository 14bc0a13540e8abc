"""A lake of Iceberg tables in localcloud, and its Athena."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import pytest
from pyiceberg.catalog.glue import GlueCatalog

from penstock.aws import Athena
from systems.sessions import REGION, make_session


@dataclass(frozen=True, slots=True)
class _Lake:
    """A bucket and a database of it."""

    client: Any
    endpoint: str
    database: str
    bucket: str

    def make_iceberg(self, name, rows):
        catalog = GlueCatalog(
            "lake",
            client=self.client("glue"),
            **{
                "warehouse": f"s3://{self.bucket}/warehouse",
                "s3.endpoint": self.endpoint,
                "s3.region": REGION,
                "s3.access-key-id": "111111111111",
                "s3.secret-access-key": "any",
            },
        )
        catalog.create_table((self.database, name), rows.schema).append(rows)

    def make_lines(self, name, columns, line):
        """Make a table of one line of JSON."""
        self.client("s3").put_object(Bucket=self.bucket, Key=f"{name}/a.json", Body=f"{line}\n")
        storage = {
            "Columns": [{"Name": column, "Type": kind} for column, kind in columns.items()],
            "Location": f"s3://{self.bucket}/{name}/",
            "SerdeInfo": {"SerializationLibrary": "org.openx.data.jsonserde.JsonSerDe"},
        }
        table = {"Name": name, "StorageDescriptor": storage}
        self.client("glue").create_table(DatabaseName=self.database, TableInput=table)


@pytest.fixture(scope="module")
def lake(cloud, client):
    name = f"quality-{secrets.token_hex(4)}"
    where = {"LocationConstraint": REGION}
    client("s3").create_bucket(Bucket=name, CreateBucketConfiguration=where)
    database = name.replace("-", "_")
    client("glue").create_database(DatabaseInput={"Name": database})
    return _Lake(client, cloud.endpoint, database, name)


@pytest.fixture(scope="module")
def athena(cloud, client, lake):
    session = make_session("111111111111")
    output = {"OutputLocation": f"s3://{lake.bucket}/results/"}
    configuration = {"ResultConfiguration": output, "BytesScannedCutoffPerQuery": 10_485_760}
    client("athena").create_work_group(Name="quality", Configuration=configuration)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
        yield Athena("quality", 60, session)
