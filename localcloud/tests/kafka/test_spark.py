"""Spark's Kafka source reads the brokers of another account's VPC by PrivateLink alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from localcloud.jars import JARS, find_jars
from localcloud.network import load_network
from tests.kafka.running_cluster import produce_to_each

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

_END_SECONDS = 60  # of a driver that is told to
# A driver with everything in one JVM: it answers a line for each source that it is told of. As on
# EMR the jars come after Spark's own.
_READ = """
import json, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.config(map=json.loads(sys.stdin.readline())).getOrCreate()
for line in sys.stdin:
    try:
        rows = spark.read.format("kafka").options(**json.loads(line)).load()
        said = sorted(bytes(row.value).decode() for row in rows.select("value").collect())
    except Exception as error:
        said = str(error)
    print(json.dumps(said), flush=True)
spark.stop()
"""
_SCRAM = {
    "kafka.sasl.mechanism": "SCRAM-SHA-512",
    "kafka.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required"
    ' username="{sasl_plain_username}" password="{sasl_plain_password}";',
}
_IAM = {
    "kafka.sasl.mechanism": "AWS_MSK_IAM",
    "kafka.sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
    "kafka.sasl.client.callback.handler.class": (
        "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
    ),
}


@pytest.fixture(scope="module")
def driver(cloud, accounts, running, tmp_path_factory):
    """A Spark driver in the consumer's VPC, with the keys of a role that may read."""
    folder = tmp_path_factory.mktemp("driver")
    _, keys = running.assume_role(["Connect", "DescribeTopic", "ReadData"])
    spark = {
        "spark.master": "local[1]",
        "spark.driver.memory": "512m",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder),
        "spark.jars": ",".join(map(str, find_jars(JARS / "tests"))),
    }
    with (folder / "stderr").open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", _READ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={
                "PATH": os.environ["PATH"],
                "SPARK_LOCAL_IP": "127.0.0.1",
                "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
                "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
                "AWS_SESSION_TOKEN": keys["SessionToken"],
                "AWS_REGION": "eu-central-1",
                **load_network(cloud).environment_for(accounts.source),
            },
            text=True,
            cwd=folder,
        )
    process.stdin.write(f"{json.dumps(spark)}\n")
    yield process
    process.communicate(timeout=_END_SECONDS)  # closes its input, at which it ends
    assert process.returncode == 0, (folder / "stderr").read_text()


@pytest.fixture
def read(driver):
    """Let the driver read a topic; returns the values, or the error."""

    def run(settings, topic, login):
        source = {
            "subscribe": topic,
            "kafka.bootstrap.servers": ",".join(settings["bootstrap_servers"]),
            "kafka.security.protocol": settings["security_protocol"],
            "kafka.ssl.truststore.type": "PEM",
            "kafka.ssl.truststore.location": settings["ssl_cafile"],
        }
        driver.stdin.write(f"{json.dumps(source | login)}\n")
        driver.stdin.flush()
        return json.loads(driver.stdout.readline())

    return run


def test_spark_reads_by_scram_from_the_consumers_vpc(read, user):
    settings, topic = user
    login = {key: text.format_map(settings) for key, text in _SCRAM.items()}
    produce_to_each(settings, topic, "a", "b", "c", "d")

    assert read(settings, topic, login) == ["a", "b", "c", "d"]


def test_spark_reads_by_iam_from_the_consumers_vpc(read, running, user):
    settings, topic = user
    produce_to_each(settings, topic, "a", "b", "c", "d")

    assert read(running.msk_iam(), topic, _IAM) == ["a", "b", "c", "d"]
