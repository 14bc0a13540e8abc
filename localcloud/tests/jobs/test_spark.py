"""A job run is a real spark-submit: its files, its data on s3://, its VPC."""

from __future__ import annotations

import io
import tarfile

import pytest

from localcloud.identity.decisions import list_decisions
from localcloud.jars import JARS
from localcloud.testing import make_zip
from tests.fixtures.jobs import make_job_role, make_jobs
from tests.jobs.clusters import METRIC, find_metrics
from tests.two_accounts import CONSUMER, PORT, TwoAccounts

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
_ACCOUNT = "111111111111"
_JAR = JARS / "tests/commons-pool2-2.12.1.jar"
_STREAM = """
import importlib.util, os, sys
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

def find(_):
    for name in ("moto", "numpy", "pandas", "pyarrow"):
        yield importlib.util.find_spec(name) is not None

print(*find(None), *spark.sparkContext.parallelize([1], 1).mapPartitions(find).collect())
"""
_SHOW_FILES = """
import os, sys
from pathlib import Path
from pyspark import SparkContext, SparkFiles
print(sys.argv[1:], Path("words.txt").read_text(), Path("box/inside.txt").read_text())
print(os.environ["COLOUR"], os.environ["AWS_REGION"])
print(os.environ["METRIC"])

def show(_):
    import boto3  # a user's own client, which names no region
    box = Path(SparkFiles.get("box"), "inside.txt").read_text()
    yield os.environ["SIZE"], boto3.client("sts").meta.region_name, box

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
    assert ended["stateDetails"] == ""
    assert ended["state"] == "SUCCESS", jobs.read_log(run, "stderr")
    arn = f"arn:aws:sts::{_ACCOUNT}:assumed-role/{jobs.role.split('/')[1]}/{run}"
    said = ["hello ['one', 'two'] red", arn, "ObjectPool", "packages/boto3/__init__.py"]
    said.append(" ".join(["False"] * 8))  # neither driver nor executor has what nobody ships
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
        "spark.emr-serverless.driverEnv.METRIC": METRIC.format(service="serverless"),
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
    metric = METRIC.format(service="serverless")
    assert lines == ["['a b'] words inside", "red eu-central-1", metric, "small eu-west-1 inside"]
    assert find_metrics(jobs.client, "serverless") == ["RecordsSeen"]


def test_a_job_that_writes_files_lists_uploads_as_its_role(cloud, client, jobs):
    source = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.range(3).selectExpr("id", "id % 2 AS part").write.mode("overwrite").partitionBy(
    "part").parquet(sys.argv[1])
print(spark.read.parquet(sys.argv[1]).count())
"""
    place = f"s3://{jobs.bucket}/uploads"
    objects = [f"s3:{name}Object" for name in ("Delete", "Get", "Put")]
    rights = ["s3:AbortMultipartUpload", "s3:ListBucket", *objects]

    def run(*more):
        """Run the job, and return whether its role may do what it was asked for."""
        role = make_job_role(client, _ACCOUNT, *rights, *more)
        started = jobs.start(source, place, executionRoleArn=role)
        assert jobs.wait_end(started)["state"] == "SUCCESS", jobs.read_log(started, "stderr")
        return {one["action"]: one["allowed"] for one in list_decisions(cloud, role=role)}

    # S3A goes on without the right, and leaves the uploads of a job that was killed.
    assert run()["s3:ListBucketMultipartUploads"] is False
    allowed = run("s3:ListBucketMultipartUploads")
    assert set(allowed.values()) == {True}, allowed
    listed = client("s3").list_objects_v2(Bucket=jobs.bucket, Prefix="uploads/")["Contents"]
    names = {each["Key"].split("/")[1] for each in listed}
    assert names - {""} == {"_SUCCESS", "part=0", "part=1"}  # "" is the folder
    assert "Uploads" not in client("s3").list_multipart_uploads(Bucket=jobs.bucket)


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
