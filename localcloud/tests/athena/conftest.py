"""A lake for queries: a Parquet table, one in partitions, one of JSON lines, and one of Iceberg."""

from __future__ import annotations

import io
import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.glue import GlueCatalog

from localcloud.testing import wait_until

_PARQUET = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
_JSON = "org.openx.data.jsonserde.JsonSerDe"
_FINAL = ("SUCCEEDED", "FAILED", "CANCELLED")


@dataclass(frozen=True, slots=True)
class Lake:
    """A bucket and a database with tables, and a client to ask them with."""

    client: Any
    endpoint: str
    bucket: str
    database: str
    athena: Any

    def put(self, key, body):
        self.client("s3").put_object(Bucket=self.bucket, Key=key, Body=body)

    def put_parquet(self, key, table):
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        self.put(key, buffer.getvalue())

    def make_table(self, name, columns, library=_PARQUET, keys=(), **parameters):
        """Make a table of files below `<name>/`; columns and partition keys as `name type`."""
        storage = {
            "Columns": [_column(each) for each in columns],
            "Location": f"s3://{self.bucket}/{name}/",
            "SerdeInfo": {"SerializationLibrary": library},
        }
        table = {"Name": name, "StorageDescriptor": storage, "Parameters": parameters}
        table["PartitionKeys"] = [_column(each) for each in keys]
        self.client("glue").create_table(DatabaseName=self.database, TableInput=table)

    def make_iceberg(self, name, rows):
        """Make a table of Iceberg by pyiceberg, with these rows."""
        catalog = GlueCatalog(
            "lake",
            client=self.client("glue"),
            **{
                "warehouse": f"s3://{self.bucket}/warehouse",
                "s3.endpoint": self.endpoint,
                "s3.region": "eu-central-1",
                "s3.access-key-id": "111111111111",
                "s3.secret-access-key": "any",
            },
        )
        table = catalog.create_table((self.database, name), rows.schema)
        table.append(rows)
        return table

    def start(self, sql, athena=None, **settings):
        """Begin a query and return its id."""
        asked = {
            "QueryExecutionContext": {"Database": self.database},
            "ResultConfiguration": {"OutputLocation": f"s3://{self.bucket}/results/"},
        } | settings
        made = (athena or self.athena).start_query_execution(QueryString=sql, **asked)
        return made["QueryExecutionId"]

    def wait_end(self, query):
        """Wait for the end of a query and describe it."""

        def ended():
            found = self.athena.get_query_execution(QueryExecutionId=query)["QueryExecution"]
            return found if found["Status"]["State"] in _FINAL else None

        return wait_until(f"the end of query {query}", ended, 120)

    def ask(self, sql, **settings):
        """Run a query and return its rows, the names of its columns as the first."""
        query = self.start(sql, **settings)
        status = self.wait_end(query)["Status"]
        assert status["State"] == "SUCCEEDED", status["StateChangeReason"]
        rows = self.athena.get_query_results(QueryExecutionId=query)["ResultSet"]["Rows"]
        return [[cell.get("VarCharValue") for cell in row["Data"]] for row in rows]

    def fail(self, sql, **settings):
        """Run a query that fails, and return why."""
        status = self.wait_end(self.start(sql, **settings))["Status"]
        assert status["State"] == "FAILED"
        assert status["AthenaError"]["ErrorMessage"] == status["StateChangeReason"]
        return status["StateChangeReason"]


def _column(text):
    name, _, kind = text.partition(" ")
    return {"Name": name, "Type": kind}


@pytest.fixture(scope="session")
def lake(cloud, client):
    """The lake, which tests only read."""
    bucket, database = f"lake-{secrets.token_hex(4)}", f"lake_{secrets.token_hex(4)}"
    where = {"LocationConstraint": "eu-central-1"}
    client("s3").create_bucket(Bucket=bucket, CreateBucketConfiguration=where)
    client("glue").create_database(DatabaseInput={"Name": database})
    made = Lake(client, cloud.endpoint, bucket, database, client("athena"))

    made.make_table("devices", ["id bigint", "name string", "rate double", "later string"])
    made.put_parquet("devices/a.parquet", pa.table({"id": [1, 2], "Name": ["one", None]}))
    made.put_parquet("devices/b.parquet", pa.table({"id": [3], "name": ["three"], "rate": [30.5]}))
    made.put("devices/_SUCCESS", b"no parquet")

    made.make_table("days", ["id int"], keys=["day date"])
    for day, ids in (("2026-11-20", [1, 2]), ("2026-11-21", [3])):
        made.put_parquet(f"days/day={day}/a.parquet", pa.table({"id": pa.array(ids, pa.int32())}))
        storage = {"Location": f"s3://{bucket}/days/day={day}"}
        client("glue").create_partition(
            DatabaseName=database,
            TableName="days",
            PartitionInput={"Values": [day], "StorageDescriptor": storage},
        )

    made.make_table("parked", ["reason string", "place struct<topic:string,number:bigint>"], _JSON)
    line = {"Reason": {"why": "oversize"}, "place": {"topic": "t", "number": 7}}
    made.put("parked/a.json", json.dumps(line) + "\n\n")

    moment = datetime(2026, 11, 21, 12, tzinfo=UTC)
    rows = pa.table(
        {
            "device": pa.array(["a", "b"]),
            "at": pa.array([moment, None], pa.timestamp("us", tz="UTC")),
            "value": pa.array([30.5, 1e10]),
        }
    )
    made.make_iceberg("readings", rows)
    return made
