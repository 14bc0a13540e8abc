"""A job run is a real spark-submit: its files, its data on s3://, its VPC."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from localcloud.tests.two_accounts import CONSUMER, PORT, TwoAccounts
from tests.fixtures.functions import make_zip
from tests.fixtures.jobs import make_jobs

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
_ACCOUNT = "111111111111"
_JAR = Path(__file__).parents[3] / "jars/spark/lib/commons-pool2-2.12.1.jar"
_STREAM = """
import os, sys
import boto3
from pyspark.sql import SparkSession
import words

place = sys.argv[1]
spark = SparkSession.builder.getOrCreate()
for run in range(2):
    query = (spark.readStream.text(f"{place}/in").writeStream
        .option("checkpointLocation", f"{place}/checkpoint").trigger(availableNow=True)
        .start(f"{place}/out", format="parquet"))
    query.awaitTermination()
rows = sorted(row.value for row in spark.read.parquet(f"{place}/out").collect())
print(words.GREETING, rows, spark.conf.get("spark.colour"))
print(boto3.client("sts", os.environ["AWS_REGION"]).get_caller_identity()["Arn"])
loader = spark._jvm.Thread.currentThread().getContextClassLoader()
print(loader.loadClass("org.apache.commons.pool2.ObjectPool").getSimpleName())
print(os.path.relpath(boto3.__file__))
try:
    import moto
except ImportError:
    print("moto is hidden")
"""
_SHOW_FILES = """
import os, sys
from pathlib import Path
from pyspark import SparkContext
print(sys.argv[1:], Path("words.txt").read_text(), Path("box/inside.txt").read_text())
print(os.environ["COLOUR"], os.environ["AWS_REGION"])

def show(_):
    import boto3  # a user's own client, which names no region
    yield os.environ["SIZE"], boto3.client("sts").meta.region_name

print(*SparkContext.getOrCreate().parallelize([1], 1).mapPartitions(show).first())
"""
_DIAL = """
import sys
from pyspark.java_gateway import launch_gateway
jvm = launch_gateway().jvm
socket = jvm.java.net.Socket(sys.argv[1], int(sys.argv[2]))
reader = jvm.java.io.InputStreamReader(socket.getInputStream())
print(jvm.java.io.BufferedReader(reader).readLine())
"""


def test_a_job_reads_and_writes_s3_with_a_checkpoint_there(jobs, boto3_parameters):
    place = f"s3://{jobs.bucket}/data"
    modules = jobs.put("words.zip", make_zip({"words.py": "GREETING = 'hello'"}))
    jar = jobs.put("jars/pool.jar", _JAR.read_bytes())
    jobs.put("data/in/lines.txt", "one\ntwo\n")
    parameters = f"--py-files {modules} --jars {jar} --conf spark.colour=red {boto3_parameters}"

    run = jobs.start(_STREAM, place, parameters=parameters, name="stream", tags={"a": "1"})

    ended = jobs.wait_end(run)
    assert (ended["state"], ended["stateDetails"]) == ("SUCCESS", ""), jobs.read_log(run, "stderr")
    arn = f"arn:aws:sts::{_ACCOUNT}:assumed-role/{jobs.role.split('/')[1]}/{run}"
    said = ["hello ['one', 'two'] red", arn, "ObjectPool", "packages/boto3/__init__.py"]
    said.append("moto is hidden")
    assert jobs.read_log(run).splitlines() == said
    assert ended["startedAt"] <= ended["endedAt"]
    assert (ended["name"], ended["tags"], ended["attempt"]) == ("stream", {"a": "1"}, 1)
    assert ended["executionTimeoutMinutes"] == 720


def test_files_archives_and_variables_reach_driver_and_executors(jobs):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("inside.txt")
        entry.size = 6
        archive.addfile(entry, io.BytesIO(b"inside"))
    words, box = jobs.put("words.txt", "words"), jobs.put("box.tar.gz", buffer.getvalue())
    settings = {
        "spark.archives": f"{box}#box,{jobs.put_boto3()}",
        "spark.emr-serverless.driverEnv.COLOUR": "red",
        "spark.executorEnv.AWS_DEFAULT_REGION": "eu-west-1",
        "spark.executorEnv.PYTHONPATH": "./packages",
        "spark.executorEnv.SIZE": "small",
    }
    configuration = [{"classification": "spark-defaults", "properties": settings}]
    watched = {"enabled": True, "logGroupName": "/jobs", "logStreamNamePrefix": "mine"}
    monitoring = {"cloudWatchLoggingConfiguration": watched}

    run = jobs.start(
        _SHOW_FILES,
        "a b",
        parameters=f"--files {words}",
        configurationOverrides={
            "applicationConfiguration": configuration,
            "monitoringConfiguration": monitoring,
        },
    )

    ended = jobs.wait_end(run)
    assert ended["state"] == "SUCCESS", ended["stateDetails"]
    stream = f"mine/applications/{jobs.application}/jobs/{run}/SPARK_DRIVER/stdout"
    found = jobs.client("logs").get_log_events(logGroupName="/jobs", logStreamName=stream)
    lines = [event["message"] for event in found["events"]]
    assert lines == ["['a b'] words inside", "red eu-central-1", "small eu-west-1"]


@pytest.fixture
def accounts(cloud, client):
    made = TwoAccounts(cloud, client, "jobs.abc123.c1.kafka.eu-central-1.amazonaws.com", 1)
    yield made
    made.close()


def test_a_job_in_a_vpc_reaches_only_hosts_and_services_of_the_vpc(cloud, client, accounts):
    network = {
        "subnetIds": accounts.subnets[CONSUMER],
        "securityGroupIds": [accounts.groups["client"]],
    }
    jobs = make_jobs(lambda name: client(name, CONSUMER), CONSUMER, networkConfiguration=network)

    lost = jobs.wait_end(jobs.start(_DIAL, accounts.brokers[0].host, str(PORT)))
    accounts.ec2[CONSUMER].create_vpc_endpoint(
        VpcId=accounts.vpcs[CONSUMER],
        VpcEndpointType="Gateway",
        ServiceName="com.amazonaws.eu-central-1.s3",
        RouteTableIds=[_main_route_table(accounts)],
    )
    watched = {"cloudWatchLoggingConfiguration": {"enabled": True, "logGroupName": "/vpc-jobs"}}
    watched["s3MonitoringConfiguration"] = {"logUri": f"s3://{jobs.bucket}/logs/"}
    overrides = {"configurationOverrides": {"monitoringConfiguration": watched}}
    run = jobs.start(_DIAL, accounts.brokers[0].host, str(PORT), **overrides)
    found = jobs.wait_end(run)

    assert lost["state"] == "FAILED"
    assert "has no endpoint for com.amazonaws.eu-central-1.s3" in lost["stateDetails"]
    assert found["state"] == "SUCCESS", jobs.read_log(run, "stderr")
    assert jobs.read_log(run).strip() == accounts.brokers[0].host
    refused = "the log was not delivered: An error occurred (VpcEndpointMissing)"
    noted = (cloud.folder / "jobs" / run / f"{run}.log").read_text()
    assert refused in noted
    assert "has no endpoint for com.amazonaws.eu-central-1.logs" in noted


def _main_route_table(accounts):
    only = [{"Name": "vpc-id", "Values": [accounts.vpcs[CONSUMER]]}]
    return accounts.ec2[CONSUMER].describe_route_tables(Filters=only)["RouteTables"][0][
        "RouteTableId"
    ]
