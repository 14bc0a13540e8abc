"""`penstock topics` prints the offsets of real partitions that the login may describe."""

from __future__ import annotations

import pytest
from kafka import KafkaProducer

from penstock.cli import main
from penstock.kafka import Security
from penstock.kafka.login import client_options
from systems.clusters import ANONYMOUS, Brokers
from tests.fixtures.commands import read_json

pytestmark = pytest.mark.kafka


def test_the_offsets_are_by_topic_and_partition(
    brokers: Brokers, plaintext_environ: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    settings = brokers.settings(Security.PLAINTEXT)
    topic, other = brokers.create_topic(partitions=2), brokers.create_topic()
    brokers.allow(ANONYMOUS, topic, "READ", "WRITE")
    with KafkaProducer(**client_options(settings)) as producer:
        for partition in (0, 0, 1):
            producer.send(topic, b"v", partition=partition).get(60)

    assert main(["topics", "--output", "json"], plaintext_environ) == 0
    found = read_json("topics", capsys.readouterr().out)
    assert [each for each in found if each["topic"] == topic] == [
        {"topic": topic, "partition": 0, "begin": 0, "end": 2},
        {"topic": topic, "partition": 1, "begin": 0, "end": 1},
    ]
    assert other not in [each["topic"] for each in found]

    assert main(["topics", topic], plaintext_environ) == 0
    header, first, _ = capsys.readouterr().out.splitlines()
    assert header.split() == ["TOPIC", "PARTITION", "BEGIN", "END", "OFFSETS"]
    assert first.split() == [topic, "0", "0", "2", "2"]

    assert main(["topics", other], plaintext_environ) == 1
    assert other in capsys.readouterr().err
