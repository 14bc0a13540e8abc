"""`penstock topics` prints the offsets of real partitions that the login may describe."""

from __future__ import annotations

from contextlib import closing
from typing import Final

import pytest
from kafka import KafkaProducer, TopicPartition

from penstock.cli import main
from penstock.kafka import Security
from penstock.kafka.login import client_options
from systems.clusters import ANONYMOUS, Brokers
from tests.fixtures.commands import read_json

pytestmark = pytest.mark.kafka
_TIME: Final = 1_795_234_015_788  # 2026-11-21T04:06:55.788Z


def test_the_offsets_are_by_topic_and_partition(
    brokers: Brokers, plaintext_environ: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    settings = brokers.settings(Security.PLAINTEXT)
    topic, other = brokers.create_topic(partitions=3), brokers.create_topic()
    brokers.allow(ANONYMOUS, topic, "READ", "WRITE")
    with KafkaProducer(**client_options(settings)) as producer:
        for number, partition in enumerate((0, 0, 1)):
            at = {"partition": partition, "timestamp_ms": _TIME + number}
            producer.send(topic, b"v", **at).get(60)
    with closing(brokers.cluster.open_admin()) as admin:
        admin.delete_records({TopicPartition(topic, 0): 1})

    assert main(["topics", "--output", "json"], plaintext_environ) == 0
    found = read_json("topics", capsys.readouterr().out)
    assert [each for each in found if each["topic"] == topic] == [
        {"topic": topic, "partition": number, "begin": begin, "end": end, "firstRecordAt": at}
        for number, begin, end, at in (
            (0, 1, 2, "2026-11-21T04:06:55.789Z"),
            (1, 0, 1, "2026-11-21T04:06:55.790Z"),
            (2, 0, 0, None),
        )
    ]
    assert other not in [each["topic"] for each in found]

    assert main(["topics", topic], plaintext_environ) == 0
    header, first, _, empty = capsys.readouterr().out.splitlines()
    assert header.split() == ["TOPIC", "PARTITION", "BEGIN", "END", "OFFSETS", "FIRST", "RECORD"]
    assert first.split() == [topic, "0", "1", "2", "1", "2026-11-21T04:06:55.789Z"]
    assert empty.split() == [topic, "2", "0", "0", "0", "-"]

    assert main(["topics", other], plaintext_environ) == 1
    assert other in capsys.readouterr().err
