"""AWS's own Java library logs in to real brokers by IAM, with both of its mechanisms."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.localcloud.kafka.running import consume

pytestmark = pytest.mark.kafka

_JARS = Path(__file__).parents[3] / "jars"
_PRODUCE = Path(__file__).with_name("Produce.java")
_WRITER = ["Connect", "DescribeTopic", "WriteData", "WriteDataIdempotently"]


@pytest.fixture
def produce(running, tmp_path):
    """Run Produce.java with those keys; returns what it printed."""
    hosts = "".join(f"{node.loopback_address} {node.name}\n" for node in running.view.nodes)
    (tmp_path / "hosts").write_text(f"127.0.0.1 localhost\n{hosts}")

    def run(keys, topic, mechanism):
        settings = running.msk_iam()
        done = subprocess.run(
            [
                "java",
                "-XX:TieredStopAtLevel=1",
                f"-Djdk.net.hosts.file={tmp_path / 'hosts'}",
                f"-Daws.accessKeyId={keys['AccessKeyId']}",
                f"-Daws.secretAccessKey={keys['SecretAccessKey']}",
                f"-Daws.sessionToken={keys['SessionToken']}",
                "-Daws.region=eu-central-1",
                "-cp",
                f"{_JARS}/iam/lib/*:{_JARS}/broker/lib/*",
                str(_PRODUCE),
                ",".join(settings["bootstrap_servers"]),
                settings["ssl_cafile"],
                topic,
                mechanism,
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("mechanism", ["AWS_MSK_IAM", "OAUTHBEARER"])
def test_a_java_client_writes_what_its_role_allows(running, produce, mechanism):
    topic = running.topic()
    _, keys = running.assume_role(_WRITER)
    assert "written" in produce(keys, topic, mechanism)
    _, reader = running.assume_role(["*"])
    assert consume(running.iam(reader), topic) == f"from java by {mechanism}".encode()
    _, keys = running.assume_role(["Connect", "DescribeTopic"])
    assert "refused: " in produce(keys, topic, mechanism)


def test_a_forged_payload_is_refused(running, produce):
    _, keys = running.assume_role(["*"])
    printed = produce(keys | {"SecretAccessKey": "forged"}, running.topic(), "AWS_MSK_IAM")
    assert "Access denied: the signature does not match" in printed
