"""Queries of Athena: their states, results, settings, and with whose rights they run."""

from __future__ import annotations

import secrets
import threading

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.athena.models import athena_backends

from localcloud.queries.engine import run_query
from localcloud.queries.query import Query, QueryFailedError, StatementKind
from localcloud.testing import wait_until
from localcloud.testing.policies import allow, make_role, trust

_NUMBERS = "SELECT n FROM UNNEST(sequence(0, 2499)) AS t(n)"
_SLOW = (
    "SELECT max(a.n * b.n % 7) FROM UNNEST(sequence(1, 1000000)) AS a(n) "
    "CROSS JOIN UNNEST(sequence(1, 1000000)) AS b(n)"
)


def refused(call, **arguments):
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    error = caught.value.response["Error"]
    assert error["Code"] == "InvalidRequestException"
    return error["Message"]


def test_a_query_is_described_and_its_result_is_in_the_bucket(lake):
    query = lake.start("SELECT id, name FROM devices WHERE id < 3 ORDER BY id;")

    found = lake.wait_end(query)

    assert found["Status"]["State"] == "SUCCEEDED"
    assert found["Status"]["SubmissionDateTime"] <= found["Status"]["CompletionDateTime"]
    assert found["Statistics"]["DataScannedInBytes"] > 0
    assert (found["WorkGroup"], found["StatementType"]) == ("primary", "DML")
    place = f"s3://{lake.bucket}/results/{query}.csv"
    assert found["ResultConfiguration"]["OutputLocation"] == place
    body = lake.client("s3").get_object(Bucket=lake.bucket, Key=f"results/{query}.csv")["Body"]
    assert body.read().decode() == '"id","name"\n"1","one"\n"2",\n'
    shown = lake.athena.get_query_results(QueryExecutionId=query)["ResultSet"]
    types = [each["Type"] for each in shown["ResultSetMetadata"]["ColumnInfo"]]
    assert types == ["bigint", "varchar"]


def test_results_come_in_pages(lake):
    query = lake.start(_NUMBERS)
    lake.wait_end(query)
    pages = lake.athena.get_paginator("get_query_results").paginate(QueryExecutionId=query)

    rows = [row["Data"][0]["VarCharValue"] for page in pages for row in page["ResultSet"]["Rows"]]

    assert rows == ["n", *map(str, range(2500))]
    said = "NextToken 'x' is unknown"
    assert refused(lake.athena.get_query_results, QueryExecutionId=query, NextToken="x") == said


def test_a_wrong_query_fails_with_its_reason(lake):
    table = f"'awsdatacatalog.{lake.database}.nothing'"
    said = f"TABLE_NOT_FOUND: line 2:6: Table {table} does not exist"
    assert lake.fail("SELECT 1\nFROM nothing") == said
    said = "SCHEMA_NOT_FOUND: line 1:15: Schema 'nowhere' does not exist"
    assert lake.fail("SELECT * FROM nowhere.t") == said
    said = "COLUMN_NOT_FOUND: line 1:8: Column 'colour' cannot be resolved or requester is not "
    assert lake.fail("SELECT colour FROM devices").startswith(said)
    said = "INVALID_CAST_ARGUMENT: Cannot cast 'onex' to INT"
    assert lake.fail("SELECT cast(name || 'x' AS int) FROM devices") == said


def test_a_statement_that_is_not_a_query_is_rejected(lake):
    def said(sql):
        return refused(lake.start, sql=sql)

    assert said("-- why\nINSERT INTO t VALUES (1)") == (
        "Queries of this type are not supported: INSERT; localcloud answers SELECT, WITH, VALUES, "
        "CREATE TABLE AS, CREATE VIEW, DROP TABLE and DROP VIEW"
    )
    assert said("CREATE TABLE t (id int)").startswith(
        "Queries of this type are not supported: CREATE TABLE without AS; "
    )
    assert said("SELEC 1") == (
        "line 1:7: mismatched input '1'. Invalid expression / Unexpected token"
    )


def test_a_query_that_has_no_result_says_so(lake):
    query = lake.start("SELECT * FROM nothing")
    lake.wait_end(query)
    results = lake.athena.get_query_results
    said = "Query did not finish successfully. Final query state: FAILED"
    assert refused(results, QueryExecutionId=query) == said
    said = "QueryExecution nobody was not found"
    assert refused(results, QueryExecutionId="nobody") == said
    gone = lake.start("SELECT 1")
    lake.wait_end(gone)
    lake.client("s3").delete_object(Bucket=lake.bucket, Key=f"results/{gone}.csv")
    assert refused(results, QueryExecutionId=gone) == "Could not find results"


def test_a_query_is_stopped(lake):
    query = lake.start(_SLOW)
    running = lake.athena.get_query_execution
    wait_until(
        "its start",
        lambda: running(QueryExecutionId=query)["QueryExecution"]["Status"]["State"] == "RUNNING",
    )
    said = "Query has not yet finished. Current state: RUNNING"
    assert refused(lake.athena.get_query_results, QueryExecutionId=query) == said

    lake.athena.stop_query_execution(QueryExecutionId=query)

    status = lake.wait_end(query)["Status"]
    assert status["State"] == "CANCELLED"
    assert status["StateChangeReason"] == "Query cancelled by user"
    wait_until("its thread is gone", lambda: "query" not in [t.name for t in threading.enumerate()])
    lake.athena.stop_query_execution(QueryExecutionId=query)


def test_a_query_that_is_cancelled_before_it_begins_never_runs():
    query = Query("id", _SLOW, "db", StatementKind.SELECT, "s3://b/", False)
    query.cancel("Query cancelled by user", 0)
    with pytest.raises(QueryFailedError, match="Query cancelled by user"):
        run_query(query, None, None)


def test_the_same_token_begins_one_query(lake):
    token = secrets.token_hex(16)
    query = lake.start("SELECT 1", ClientRequestToken=token)
    assert lake.start("SELECT 1", ClientRequestToken=token) == query
    said = "Idempotent parameters do not match"
    assert refused(lake.start, sql="SELECT 2", ClientRequestToken=token) == said


@pytest.fixture
def group(lake):
    """Make a work group whose settings count, and give its name."""

    def make(enforce=True, **configuration):
        name = f"group-{secrets.token_hex(4)}"
        lake.athena.create_work_group(
            Name=name,
            Configuration={
                "EnforceWorkGroupConfiguration": enforce,
                "ResultConfiguration": {"OutputLocation": f"s3://{lake.bucket}/enforced"},
                **configuration,
            },
        )
        return name

    return make


def test_a_work_group_says_where_results_go(lake, group):
    enforced, lenient = group(), group(enforce=False)
    for name, place in ((enforced, "enforced"), (lenient, "results")):
        query = lake.start("SELECT 1", WorkGroup=name)
        output = lake.wait_end(query)["ResultConfiguration"]["OutputLocation"]
        assert output == f"s3://{lake.bucket}/{place}/{query}.csv"
        assert lake.athena.list_query_executions(WorkGroup=name)["QueryExecutionIds"] == [query]
    found = lake.athena.batch_get_query_execution(QueryExecutionIds=[query, "nobody"])
    assert [each["QueryExecutionId"] for each in found["QueryExecutions"]] == [query]
    assert found["UnprocessedQueryExecutionIds"][0]["QueryExecutionId"] == "nobody"


def test_a_work_group_limits_what_is_read(lake, group):
    name = group()
    configuration = athena_backends["111111111111"]["eu-central-1"].work_groups[name].configuration
    configuration["BytesScannedCutoffPerQuery"] = 10  # the API takes ten million and more
    lake.wait_end(lake.start("SELECT 1", WorkGroup=name))
    for table in ("devices", "readings"):
        status = lake.wait_end(lake.start(f"SELECT * FROM {table}", WorkGroup=name))["Status"]
        said = "Bytes scanned limit was exceeded"
        assert (status["State"], status["StateChangeReason"]) == ("CANCELLED", said)


def test_a_query_without_a_place_or_group_is_refused(lake):
    assert refused(lake.start, sql="SELECT 1", WorkGroup="none") == "WorkGroup none is not found."
    said = "No output location provided."
    assert refused(lake.start, sql="SELECT 1", ResultConfiguration={}).startswith(said)
    nowhere = {"OutputLocation": "s3://no-such-bucket-here/x/"}
    said = "Unable to verify/create output bucket no-such-bucket-here"
    assert refused(lake.start, sql="SELECT 1", ResultConfiguration=nowhere) == said
    other = {"Catalog": "mine"}
    said = "Catalog mine is not supported"
    assert refused(lake.start, sql="SELECT 1", QueryExecutionContext=other) == said


@pytest.fixture
def as_role(client, lake):
    """Make a client of Athena with the rights of a role that may do these actions."""

    def make(*actions):
        role = make_role(client("iam"), trust("111111111111"), allow(list(actions)))
        keys = client("sts").assume_role(RoleArn=role, RoleSessionName="analyst")["Credentials"]
        return boto3.client(
            "athena",
            endpoint_url=lake.endpoint,
            region_name="eu-central-1",
            aws_access_key_id=keys["AccessKeyId"],
            aws_secret_access_key=keys["SecretAccessKey"],
            aws_session_token=keys["SessionToken"],
        )

    return make


_ALL = ("athena:*", "glue:GetDatabase", "glue:GetTable", "s3:GetBucketLocation", "s3:ListBucket")


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        (
            ("athena:*", "s3:*"),
            "Insufficient permissions to execute the query. User: arn:aws:",
        ),
        ((*_ALL, "s3:PutObject"), "PERMISSION_DENIED: Cannot read {}.devices: User: arn:aws:sts::"),
        ((*_ALL, "s3:GetObject"), "Access denied when writing output to url: s3://{}"),
    ],
    ids=["glue", "files", "result"],
)
def test_a_query_has_the_rights_of_its_caller(lake, as_role, actions, said):
    query = lake.start("SELECT * FROM devices", athena=as_role(*actions))
    status = lake.wait_end(query)["Status"]
    assert status["State"] == "FAILED"
    place = lake.database if "PERMISSION" in said else lake.bucket
    assert status["StateChangeReason"].startswith(said.format(place))


def test_iceberg_too_is_read_with_the_rights_of_the_caller(lake, as_role):
    query = lake.start("SELECT * FROM readings", athena=as_role(*_ALL, "s3:PutObject"))
    reason = lake.wait_end(query)["Status"]["StateChangeReason"]
    assert reason.startswith(f"HIVE_BAD_DATA: Cannot read {lake.database}.readings: ")
    assert "ACCESS_DENIED" in reason
    full = lake.start("SELECT * FROM readings", athena=as_role(*_ALL, "s3:PutObject", "s3:Get*"))
    assert lake.wait_end(full)["Status"]["State"] == "SUCCEEDED"


def test_a_work_group_with_queries_is_deleted_only_with_what_it_has(lake, group):
    name, empty = group(), group()
    said = f"WorkGroup {name} is not empty"
    query = lake.start("SELECT 1", WorkGroup=name)
    lake.wait_end(query)

    assert refused(lake.athena.delete_work_group, WorkGroup=name) == said

    lake.athena.delete_work_group(WorkGroup=name, RecursiveDeleteOption=True)
    lake.athena.delete_work_group(WorkGroup=empty)
    assert refused(lake.athena.get_query_execution, QueryExecutionId=query).endswith("not found")


def test_a_work_group_with_saved_queries_is_not_empty(lake, group):
    name = group()
    saved = {"Name": "one", "Database": lake.database, "QueryString": "SELECT 1"}
    lake.athena.create_named_query(WorkGroup=name, **saved)

    said = f"WorkGroup {name} is not empty"
    assert refused(lake.athena.delete_work_group, WorkGroup=name) == said


def test_the_primary_work_group_stays(lake):
    refused(lake.athena.delete_work_group, WorkGroup="primary")
