"""A batch of one record makes a bounded number of calls."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from localcloud.faults import Faults
from penstock.spark.settings.lease import LeaseSettings
from tests.fixtures.readings import make_reading_table
from tests.spark.consuming import DEVICE, TIME, Job, make_reading
from tests.spark.records import make_record
from tests.spark.sinks import with_sinks

_ACCOUNT, _REGION = "111111111111", "eu-central-1"
_COMMIT = re.compile(r"/commits/\d+$")
# By service, of a batch to the lake and DynamoDB.
_MOST = {"glue": 10, "s3 of the lake": 12, "dynamodb": 1}


class Calls:
    """The calls of each batch by service, from one commit of Spark to the next."""

    def __init__(self):
        self.batches = [Counter()]

    def around(self, call, perform):
        is_s3, place = call.service == "s3", ""
        if is_s3:
            place = call.params.get("Key") or call.params.get("Prefix") or ""
        of = "checkpoint" if place.startswith("checkpoint/") else "lake"
        self.batches[-1][f"s3 of the {of}" if is_s3 else call.service] += 1
        answer = perform()
        if call.operation in {"PutObject", "CopyObject"} and _COMMIT.search(place):
            self.batches.append(Counter())
        return answer


class Store:
    """A bucket for the checkpoint, a database of the lake, and a table of readings."""

    def __init__(self, client):
        self.name = f"trips-{secrets.token_hex(4)}"
        self.database = self.name.replace("-", "_")
        client("s3").create_bucket(
            Bucket=self.name, CreateBucketConfiguration={"LocationConstraint": _REGION}
        )
        location = f"s3://{self.name}/tables/"
        client("glue").create_database(
            DatabaseInput={"Name": self.database, "LocationUri": location}
        )
        make_reading_table(client("dynamodb"), self.name)


@pytest.fixture
def store(glue_spark, client, cloud, executors_account):
    """What a job writes to, and the settings by which Spark and its executors find it."""
    s3a = {
        "endpoint": cloud.endpoint,
        "endpoint.region": _REGION,
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "access.key": _ACCOUNT,
        "secret.key": "any",
    }
    settings = {
        "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "fs.AbstractFileSystem.s3.impl": "org.apache.hadoop.fs.s3a.S3A",
        **{f"fs.s3a.{name}": text for name, text in s3a.items()},
    }
    hadoop = glue_spark.sparkContext._jsc.hadoopConfiguration()
    for name, text in settings.items():
        hadoop.set(name, text)
    made = Store(client)
    yield made
    for name in settings:
        hadoop.unset(name)
    client("glue").delete_database(Name=made.database)
    client("dynamodb").delete_table(TableName=made.name)


@pytest.fixture
def job(glue_spark, kafka, account, store, tmp_path):
    """A job that writes to the lake and DynamoDB, and has its checkpoint on S3."""
    table = SimpleNamespace(name=f"lake.{store.database}.t")
    made = Job(glue_spark, table, kafka, account, tmp_path)
    made.settings = replace(
        made.settings,
        checkpoint=f"s3://{store.name}/checkpoint",
        lease=LeaseSettings(lease_seconds=600, heartbeat_seconds=300),
        sinks=with_sinks(made.settings.sinks, dynamodb_table=store.name),
    )
    return made


def test_a_batch_of_one_record_makes_a_bounded_number_of_calls(job, cloud):
    """The first batch creates the table, and the second one begins in its middle."""
    v1 = job.register(make_record(DEVICE, TIME))
    job.send(*(make_reading(v1, name) for name in "abcd"))
    calls = Calls()

    with cloud.state(Faults).wrapped(calls.around):
        job.run(max_offsets_per_trigger=1)

    assert len(calls.batches) == 5
    for batch in calls.batches[1:4]:
        assert {name: batch[name] for name, most in _MOST.items() if batch[name] > most} == {}
