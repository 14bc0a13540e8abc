"""Crawlers read files with their role, and Athena reads the tables that they make."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from localcloud.testing import wait_until
from localcloud.testing.policies import allow, allow_role, make_role, trust

_GLUE = {"Service": "glue.amazonaws.com"}
_COMBINE = {"Version": 1.0, "Grouping": {"TableGroupingPolicy": "CombineCompatibleSchemas"}}
_LOG = {"UpdateBehavior": "LOG", "DeleteBehavior": "LOG"}
_DELETE = {"UpdateBehavior": "UPDATE_IN_DATABASE", "DeleteBehavior": "DELETE_FROM_DATABASE"}


@dataclass(frozen=True, slots=True)
class Crawling:
    """A folder of a bucket of its own, a database, and a role that may do everything here."""

    lake: Any
    glue: Any
    role: str
    folder: str
    name: str

    def settings(self, **more):
        path = f"s3://{self.lake.bucket}/{self.folder}"
        given = {
            "Name": self.name,
            "Role": self.role,
            "DatabaseName": self.lake.database,
            "Targets": {"S3Targets": [{"Path": path, "Exclusions": ["**.tmp"]}]},
        }
        return given | more

    def put(self, path, **columns):
        self.lake.put_parquet(f"{self.folder}/{path}", pa.table(columns))

    def create(self, **more):
        self.glue.create_crawler(**self.settings(**more))

    def run(self):
        """Crawl, and return how it ended."""
        self.glue.start_crawler(Name=self.name)

        def ended():
            found = self.glue.get_crawler(Name=self.name)["Crawler"]
            return found if found["State"] == "READY" else None

        return wait_until("the end of the crawl", ended, 120)["LastCrawl"]

    def crawl(self):
        """Crawl, and return what it made of tables: created, updated, deleted."""
        last = self.run()
        assert last["Status"] == "SUCCEEDED", last
        pages = self.glue.get_paginator("get_crawler_metrics").paginate()
        (found,) = [
            each
            for page in pages
            for each in page["CrawlerMetricsList"]
            if each["CrawlerName"] == self.name
        ]
        return tuple(found[f"Tables{what}"] for what in ("Created", "Updated", "Deleted"))

    def table(self, name=""):
        place = {"DatabaseName": self.lake.database, "Name": name or self.folder}
        return self.glue.get_table(**place)["Table"]

    def columns(self, name=""):
        found = self.table(name)["StorageDescriptor"]["Columns"]
        return {each["Name"]: each["Type"] for each in found}

    def partitions(self):
        place = {"DatabaseName": self.lake.database, "TableName": self.folder}
        found = self.glue.get_partitions(**place)["Partitions"]
        return sorted(tuple(each["Values"]) for each in found)


@pytest.fixture
def crawling(lake, client):
    name = f"c_{secrets.token_hex(4)}"
    role = make_role(client("iam"), trust(_GLUE), allow(["s3:*", "glue:*", "logs:*"]))
    made = Crawling(lake, client("glue"), role, name, name)
    yield made
    for table in made.glue.get_tables(DatabaseName=lake.database)["TableList"]:
        if table.get("Parameters", {}).get("UPDATED_BY_CRAWLER") == name:
            made.glue.delete_table(DatabaseName=lake.database, Name=table["Name"])


def test_a_crawl_makes_a_table_with_partitions_that_athena_reads(crawling, client):
    for day, ids in (("2026-11-20", [1, 2]), ("2026-11-21", [3])):
        crawling.put(f"day={day}/a.parquet", Id=ids, place=[{"City": "x"}] * len(ids))
    crawling.lake.put(f"{crawling.folder}/_SUCCESS", b"x")
    crawling.lake.put(f"{crawling.folder}/day=2026-11-19/b.tmp", b"x")
    crawling.create(TablePrefix="", Tags={"team": "data"})

    assert crawling.crawl() == (1, 0, 0)

    table = crawling.table()
    assert crawling.columns() == {"id": "bigint", "place": "struct<city:string>"}
    assert table["PartitionKeys"] == [{"Name": "day", "Type": "string"}]
    assert crawling.partitions() == [("2026-11-20",), ("2026-11-21",)]
    parameters = table["Parameters"]
    assert {"classification": "parquet", "objectCount": "2", "recordCount": "3"}.items() <= (
        parameters.items()
    )
    assert parameters["UPDATED_BY_CRAWLER"] == crawling.name
    sql = f"SELECT id FROM {crawling.folder} WHERE day = '2026-11-21'"  # our own
    assert crawling.lake.ask(sql) == [["id"], ["3"]]
    assert crawling.crawl() == (0, 0, 0)
    arn = f"arn:aws:glue:eu-central-1:111111111111:crawler/{crawling.name}"
    assert crawling.glue.get_tags(ResourceArn=arn)["Tags"] == {"team": "data"}
    stream = {"logGroupName": "/aws-glue/crawlers", "logStreamName": crawling.name}
    lines = [each["message"] for each in client("logs").get_log_events(**stream)["events"]]
    assert any("Created table" in line for line in lines)


def test_lines_of_json_are_read_too(crawling):
    lines = [{"reason": "a", "n": 1}, {"reason": "b", "n": 2.5, "more": {"X": True}}]
    crawling.lake.put(f"{crawling.folder}/a.json", "\n".join(map(json.dumps, lines)))
    crawling.create()

    crawling.crawl()

    assert crawling.columns() == {
        "reason": "string",
        "n": "double",
        "more": "struct<x:boolean>",
    }
    assert crawling.table()["Parameters"]["classification"] == "json"


def test_policies_decide_what_a_change_does(crawling):
    crawling.put("day=1/a.parquet", a=[1])
    crawling.put("day=2/a.parquet", a=[2])
    crawling.create(SchemaChangePolicy=_LOG, Configuration=json.dumps(_COMBINE))
    crawling.crawl()
    crawling.put("day=3/a.parquet", a=[3], b=["x"])
    crawling.lake.client("s3").delete_object(
        Bucket=crawling.lake.bucket, Key=f"{crawling.folder}/day=1/a.parquet"
    )

    assert crawling.crawl() == (0, 0, 0)
    assert (list(crawling.columns()), len(crawling.partitions())) == (["a"], 3)

    crawling.glue.update_crawler(Name=crawling.name, SchemaChangePolicy=_DELETE)
    assert crawling.crawl() == (0, 1, 0)
    assert (list(crawling.columns()), crawling.partitions()) == (["a", "b"], [("2",), ("3",)])


@pytest.mark.parametrize(
    ("behavior", "left", "counts"),
    [
        ("LOG", True, (0, 0, 0)),
        ("DEPRECATE_IN_DATABASE", True, (0, 1, 0)),
        ("DELETE_FROM_DATABASE", False, (0, 0, 1)),
    ],
)
def test_a_table_whose_files_are_gone(crawling, behavior, left, counts):
    crawling.put("a.parquet", a=[1])
    crawling.create(SchemaChangePolicy={"DeleteBehavior": behavior})
    crawling.crawl()
    crawling.lake.client("s3").delete_object(
        Bucket=crawling.lake.bucket, Key=f"{crawling.folder}/a.parquet"
    )

    assert crawling.crawl() == counts

    if not left:
        with pytest.raises(crawling.glue.exceptions.EntityNotFoundException):
            crawling.table()
    else:
        deprecated = "DEPRECATED_BY_CRAWLER" in crawling.table()["Parameters"]
        assert deprecated == (behavior == "DEPRECATE_IN_DATABASE")


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        (["glue:*"], r"is not authorized to perform: s3:ListBucket .*AccessDenied"),
        (["glue:*", "s3:ListBucket"], r"is not authorized to perform: s3:GetObject .*AccessDenied"),
        (
            ["s3:*", "glue:GetDatabase", "glue:GetTable"],
            r"perform: glue:CreateTable .*AccessDenied",
        ),
    ],
)
def test_the_rights_of_the_role_decide(crawling, client, allowed, said):
    crawling.put("a.parquet", a=[1])
    crawling.create()
    allow_role(crawling.role, client("iam"), allow(allowed))

    last = crawling.run()

    assert last["Status"] == "FAILED"
    assert re.search(said, last["ErrorMessage"])
    assert f"assumed-role/{crawling.role.rpartition('/')[2]}/AWS-Crawler" in last["ErrorMessage"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"Targets": {"JdbcTargets": [{"ConnectionName": "c", "Path": "db/%"}]}},
            "localcloud's crawlers read S3Targets, expected no JdbcTargets",
        ),
        ({"Targets": {}}, "Must specify at least one crawl target"),
        (
            {"Targets": {"S3Targets": [{"Path": "s3://b/p", "SampleSize": 3}]}},
            "localcloud's crawlers have no SampleSize of a target",
        ),
        ({"Classifiers": ["mine"]}, "localcloud's crawlers have no Classifiers"),
        (
            {"RecrawlPolicy": {"RecrawlBehavior": "CRAWL_EVENT_MODE"}},
            "localcloud's crawlers have no RecrawlBehavior CRAWL_EVENT_MODE",
        ),
        (
            {"RecrawlPolicy": {"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"}},
            "The SchemaChangePolicy for CRAWL_NEW_FOLDERS_ONLY should be LOG",
        ),
        ({"Configuration": "{"}, "Unable to parse crawler configuration"),
        (
            {"Configuration": json.dumps({"Version": 1.0, "CreatePartitionIndex": True})},
            "do not have the configuration CreatePartitionIndex = True",
        ),
        ({"DatabaseName": ""}, "localcloud's crawlers need a DatabaseName"),
        (
            {"LineageConfiguration": {"CrawlerLineageSettings": "ENABLE"}},
            "localcloud's crawlers have no LineageConfiguration",
        ),
    ],
)
def test_an_unsupported_setting_is_refused_by_name(crawling, more, said):
    with pytest.raises(crawling.glue.exceptions.InvalidInputException, match=said):
        crawling.create(**more)


def test_a_role_that_does_not_trust_glue_is_refused(crawling, client):
    role = make_role(client("iam"), trust({"Service": "lambda.amazonaws.com"}))

    with pytest.raises(
        crawling.glue.exceptions.InvalidInputException,
        match=r"Service is unable to assume provided role\. Please verify role's TrustPolicy",
    ):
        crawling.create(Role=role)


def test_a_crawler_is_created_once_and_deleted(crawling):
    crawling.create(Schedule="cron(0 6 * * ? *)", Role=crawling.role.rpartition("/")[2])
    with pytest.raises(crawling.glue.exceptions.AlreadyExistsException):
        crawling.create()
    with pytest.raises(crawling.glue.exceptions.CrawlerNotRunningException):
        crawling.glue.stop_crawler(Name=crawling.name)

    found = crawling.glue.get_crawler(Name=crawling.name)["Crawler"]
    assert found["Role"] == crawling.role.rpartition("/")[2]
    assert found["Schedule"]["ScheduleExpression"] == "cron(0 6 * * ? *)"
    assert crawling.name in [each["Name"] for each in crawling.glue.get_crawlers()["Crawlers"]]
    assert crawling.name in crawling.glue.list_crawlers()["CrawlerNames"]
    crawling.glue.delete_crawler(Name=crawling.name)
    for call in (crawling.glue.get_crawler, crawling.glue.start_crawler):
        with pytest.raises(crawling.glue.exceptions.EntityNotFoundException):
            call(Name=crawling.name)


def test_a_crawl_that_is_stopped_is_cancelled(crawling, monkeypatch):
    """The crawl reads its file only after it has been stopped."""
    from localcloud.services.glue.crawlers import files  # noqa: PLC0415 # imported when crawling

    crawling.put("a.parquet", a=[1])
    crawling.create()
    read = files._read_file

    def stop_and_read(*arguments):
        crawling.glue.stop_crawler(Name=crawling.name)
        with pytest.raises(crawling.glue.exceptions.CrawlerRunningException):
            crawling.glue.start_crawler(Name=crawling.name)
        with pytest.raises(crawling.glue.exceptions.CrawlerStoppingException):
            crawling.glue.stop_crawler(Name=crawling.name)
        return read(*arguments)

    monkeypatch.setattr(files, "_read_file", stop_and_read)

    assert crawling.run()["Status"] == "CANCELLED"
    with pytest.raises(crawling.glue.exceptions.EntityNotFoundException):
        crawling.table()


def test_a_table_of_other_files_keeps_its_name(crawling):
    """A table of the name exists at another place, so the new one's name has a hash."""
    crawling.lake.make_table(crawling.folder, ["x int"])
    crawling.put("deeper/a.parquet", a=[1])
    path = f"s3://{crawling.lake.bucket}/{crawling.folder}/deeper/"
    crawling.glue.create_table(
        DatabaseName=crawling.lake.database,
        TableInput={"Name": "deeper", "StorageDescriptor": {"Location": "s3://b/other/"}},
    )
    crawling.create(Targets={"S3Targets": [{"Path": path}]})

    assert crawling.crawl() == (1, 0, 0)

    assert crawling.table("deeper")["StorageDescriptor"]["Location"] == "s3://b/other/"
    tables = crawling.glue.get_tables(DatabaseName=crawling.lake.database)["TableList"]
    (made,) = [each["Name"] for each in tables if each["Name"].startswith("deeper_")]
    assert crawling.columns(made) == {"a": "bigint"}
    crawling.glue.delete_table(DatabaseName=crawling.lake.database, Name="deeper")


def test_athena_cannot_read_files_of_another_type_than_the_crawler_chose(crawling):
    crawling.put("day=1/a.parquet", a=[1])
    crawling.put("day=2/a.parquet", a=[0.5])
    crawling.create(Configuration=json.dumps(_COMBINE))
    crawling.crawl()

    assert crawling.columns() == {"a": "double"}
    said = crawling.lake.fail(f"SELECT a FROM {crawling.folder}")  # our own
    assert "HIVE_BAD_DATA" in said
    assert "Field a's type int64 in parquet file is incompatible with type double" in said
