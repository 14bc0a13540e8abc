"""docs/evolution.md: its commands and queries print what the page says, with one job that runs."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from localcloud.testing import wait_until
from penstock.cli import main
from penstock.kafka import Security, Topic, ensure_topic
from penstock.registry import RegistrySettings
from penstock.spark import ConsumeSettings, start_consuming
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.settings.lease import LeaseSettings
from systems.clusters import ANONYMOUS, PRODUCER, logged_in
from tests.spark.consuming import SECONDS
from tests.spark.sinks import FileErrors, sink_settings

_PAGE = Path(__file__).parents[2] / "docs/evolution.md"
_BLOCK = re.compile(r"^```(json|sh|sql|text)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
# Seconds, ids, times, and the files of batches, which begin when they like.
_CHANGING = re.compile(
    r"in [\d.]+ s \([\d,.]+ records/s\)|[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\d[T ][\d:.]+"
    r"|footers read: .*"
)
_DATABASE, _TOPIC = "penstock_analytics_lake", "sensor"
_REGISTRY = "glue://penstock?region=eu-central-1"


@pytest.fixture
def folder(act_as, tmp_path, monkeypatch):
    """The working directory of the commands, which act as an account."""
    act_as("111111111111")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def settings(kafka, client, leases, folder):
    """The settings of the job, whose registry, lake and topic are there and empty."""
    where = {"LocationConstraint": "eu-central-1"}
    client("s3").create_bucket(Bucket="evolution", CreateBucketConfiguration=where)
    client("glue").create_registry(RegistryName="penstock")
    lake = {"Name": _DATABASE, "LocationUri": "s3://evolution/tables/"}
    client("glue").create_database(DatabaseInput=lake)
    with logged_in(kafka, PRODUCER):
        ensure_topic(kafka.settings(Security.IAM), Topic(_TOPIC, partitions=1))
    kafka.allow(ANONYMOUS, _TOPIC, "READ", "WRITE")
    return ConsumeSettings(
        kafka=kafka.settings(Security.PLAINTEXT),
        read=ReadSettings(topics=(_TOPIC,)),
        sinks=sink_settings(leases, "parked", lake_table=f"{_DATABASE}.readings"),
        lease=LeaseSettings(lease_seconds=4, heartbeat_seconds=0.5),
        schemas=RegistrySettings(_REGISTRY),
        checkpoint=f"file://{folder}/checkpoint",
        trigger="1 second",
    )


@pytest.fixture
def run(settings, capsys):
    """Run the commands of a block, and return what they print; the job prints beside them."""
    environ = {
        "KAFKA_BOOTSTRAP_SERVERS": ",".join(settings.kafka.bootstrap_servers),
        "KAFKA_SECURITY": "plaintext",
        "PENSTOCK_REGISTRY": _REGISTRY,
        "PENSTOCK_SCHEMA_NAME": _TOPIC,
        "PENSTOCK_TOPIC": _TOPIC,
        "PENSTOCK_POLICY": "exact",
        "DEVICE_ID": "000001",
    }

    def run(commands):
        capsys.readouterr()
        for command in commands.splitlines():
            main(shlex.split(command)[1:], environ)
        lines = "".join(capsys.readouterr()).splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith('{"service"'))

    return run


@pytest.fixture
def ask(client):
    """Run a query of Athena, and return its result file."""

    def ask(sql):
        athena = client("athena")
        query = athena.start_query_execution(
            QueryString=sql,
            QueryExecutionContext={"Database": _DATABASE},
            ResultConfiguration={"OutputLocation": "s3://evolution/results"},
        )["QueryExecutionId"]

        def ended():
            found = athena.get_query_execution(QueryExecutionId=query)["QueryExecution"]
            return found if "CompletionDateTime" in found["Status"] else None

        assert wait_until("an answer", ended, SECONDS)["Status"]["State"] == "SUCCEEDED"
        result = client("s3").get_object(Bucket="evolution", Key=f"results/{query}.csv")
        return result["Body"].read().decode()

    return ask


def test_the_page_is_what_happens(glue_spark, settings, run, ask, folder):
    (folder / "errors").mkdir()
    errors = FileErrors(folder / "errors")
    job = start_consuming(glue_spark, settings, errors=errors)
    page, printed, events = _PAGE.read_text(), "", ""

    def play(block):
        nonlocal printed, events
        kind, text = block.groups()
        if kind == "json":
            events = text
        elif kind == "sh":
            (folder / shlex.split(text)[2]).write_text(events)
            printed = run(text)
        elif kind == "sql":
            job.processAllAvailable()
            printed = ask(text)
        else:
            assert printed
            return f"```text\n{printed}```\n"
        return block[0]

    try:
        happened = _BLOCK.sub(play, page)
    finally:
        job.stop()

    if os.environ.get("REWRITE") == "1":
        _PAGE.write_text(happened)
    assert errors.reasons() == {}
    assert _CHANGING.sub("", page) == _CHANGING.sub("", happened)
