"""AWS's own Java library logs in to real brokers by IAM, with both of its mechanisms."""

from __future__ import annotations

import re

import pytest

from tests.kafka.running_cluster import consume

pytestmark = pytest.mark.kafka

_WRITER = ["Connect", "DescribeTopic", "WriteData", "WriteDataIdempotently"]


@pytest.fixture
def produce(running, java, tmp_path):
    """Run Produce.java with those keys; returns what it printed."""
    hosts = "".join(f"{node.loopback_address} {node.name}\n" for node in running.view.nodes)
    (tmp_path / "hosts").write_text(f"127.0.0.1 localhost\n{hosts}")
    environ = {"JAVA_TOOL_OPTIONS": f"-Djdk.net.hosts.file={tmp_path / 'hosts'}"}

    def run(keys, topic, mechanism):
        return java.produce(running.msk_iam(), keys, topic, mechanism, environ)

    return run


def test_a_java_client_writes_what_its_role_allows(running, produce):
    topic = running.topic()
    _, keys = running.assume_role(_WRITER)
    assert "written" in produce(keys, topic, "OAUTHBEARER")
    _, reader = running.assume_role(["*"])
    assert consume(running.iam(reader), topic) == b"from java by OAUTHBEARER"
    _, keys = running.assume_role(["Connect", "DescribeTopic"])
    # Of the topic, or, when that answer is first, of the id that an idempotent producer needs.
    assert re.search("refused: .*authoriz", produce(keys, topic, "AWS_MSK_IAM"))


def test_a_forged_payload_is_refused(running, produce):
    _, keys = running.assume_role(["*"])
    printed = produce(keys | {"SecretAccessKey": "forged"}, running.topic(), "AWS_MSK_IAM")
    assert "Access denied: the signature does not match" in printed
