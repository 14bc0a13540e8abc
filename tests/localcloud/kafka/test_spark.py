"""Spark's Kafka source reads the brokers of another account's VPC by PrivateLink alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from localcloud.network import load_network
from tests.localcloud.kafka.running import produce_to_each
from tests.localcloud.refusing import refusals_of, rejected

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

_ROOT = Path(__file__).parents[3]
_CHILD_SECONDS = 100  # half a minute on a machine that does much else
# A driver with everything in one JVM. As on EMR the jars come after Spark's own.
_READ = """
import json, sys
from pyspark.sql import SparkSession

given = json.load(sys.stdin)
spark = SparkSession.builder.config(map=given["spark"]).getOrCreate()
rows = spark.read.format("kafka").options(**given["source"]).load()
print(sorted(bytes(row.value).decode() for row in rows.select("value").collect()))
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


@pytest.fixture
def read(cloud, accounts, tmp_path):
    """Let a Spark driver in the consumer's VPC read a topic; returns what it printed."""
    jars = [*_ROOT.glob("jars/spark/lib/*.jar"), *_ROOT.glob("jars/iam/lib/*.jar")]
    spark = {
        "spark.master": "local[1]",
        "spark.driver.memory": "512m",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(tmp_path),
        "spark.jars": ",".join(map(str, jars)),
    }

    def run(settings, topic, login, **environment):
        source = {
            "subscribe": topic,
            "kafka.bootstrap.servers": ",".join(settings["bootstrap_servers"]),
            "kafka.security.protocol": settings["security_protocol"],
            "kafka.ssl.truststore.type": "PEM",
            "kafka.ssl.truststore.location": settings["ssl_cafile"],
            # Without these two it looks for brokers three times, for a minute each.
            "kafka.request.timeout.ms": "10000",
            "kafka.default.api.timeout.ms": "10000",
            "fetchOffset.numRetries": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", _READ],
            input=json.dumps({"spark": spark, "source": source | login}),
            env={
                "PATH": os.environ["PATH"],
                "SPARK_LOCAL_IP": "127.0.0.1",
                **load_network(cloud).environment_for(accounts.source),
                **environment,
            },
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=_CHILD_SECONDS,
            check=False,
        )
        return done.stdout.strip() or done.stderr

    return run


@pytest.fixture
def scram(user):
    """The options of the source for a SCRAM user."""
    settings, _ = user
    return {key: text.format_map(settings) for key, text in _SCRAM.items()}


def test_spark_reads_by_scram_from_the_consumers_vpc(read, user, scram):
    settings, topic = user
    produce_to_each(settings, topic, "a", "b", "c", "d")

    assert read(settings, topic, scram) == "['a', 'b', 'c', 'd']"


def test_spark_reads_by_iam_from_the_consumers_vpc(read, running, user):
    settings, topic = user
    produce_to_each(settings, topic, "a", "b", "c", "d")
    _, keys = running.assume_role(["Connect", "DescribeTopic", "ReadData"])

    said = read(
        running.msk_iam(),
        topic,
        _IAM,
        AWS_ACCESS_KEY_ID=keys["AccessKeyId"],
        AWS_SECRET_ACCESS_KEY=keys["SecretAccessKey"],
        AWS_SESSION_TOKEN=keys["SessionToken"],
        AWS_REGION="eu-central-1",
    )

    assert said == "['a', 'b', 'c', 'd']"


def test_without_the_way_spark_gives_up_in_time(read, cloud, accounts, user, scram):
    settings, topic = user
    produce_to_each(settings, topic, "a")

    with rejected(accounts):
        said = read(settings, topic, scram)
        refusals = refusals_of(load_network(cloud), accounts.brokers)

    assert "Timed out waiting for a node assignment" in said
    assert refusals
    assert refusals <= {
        f"endpoint {broker.endpoint} is rejected, not available" for broker in accounts.brokers
    }
