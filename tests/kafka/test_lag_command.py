"""`penstock lag` prints what real groups have committed, beside the ends of their partitions."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import closing

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ResourcePattern,
    ResourceType,
)
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from localcloud.testing import wait_until
from penstock.cli import main
from penstock.kafka import Security
from penstock.kafka.login import client_options
from systems.clusters import ANONYMOUS, Brokers

pytestmark = pytest.mark.kafka


@pytest.fixture
def group_of_others(brokers: Brokers) -> Iterator[str]:
    """A group that may be listed, as by who changes access lists, and whose offsets are refused."""
    place, name = TopicPartition(brokers.create_topic(1), 0), f"others-{secrets.token_hex(4)}"
    cluster = ResourcePattern(ResourceType.CLUSTER, "kafka-cluster")
    listing = ACL(f"User:{ANONYMOUS}", "*", ACLOperation.DESCRIBE, ACLPermissionType.ALLOW, cluster)
    with closing(brokers.cluster.open_admin()) as admin:

        def commit() -> object:
            try:
                admin.alter_group_offsets(name, {place: OffsetAndMetadata(0, "", -1)})
                return admin.list_group_offsets(name)[name]  # nothing, if it was refused
            except KafkaError:  # the coordinator of the first group is still loading
                return None

        wait_until("the group has committed", commit)
        admin.create_acls([listing])
        brokers.wait_for_changes()
        yield name
        admin.delete_acls([listing])
        brokers.wait_for_changes()


def test_groups_of_others_are_left_out_unless_they_are_named(
    group_of_others: str, plaintext_environ: dict[str, str], capsys
) -> None:
    words = ["--seconds", "0.01", "--output", "json"]

    assert main(["lag", *words], plaintext_environ) == 0
    assert group_of_others not in capsys.readouterr().out

    assert main(["lag", group_of_others, *words], plaintext_environ) == 1
    assert "the lags of consumer groups cannot be read" in capsys.readouterr().err


def test_a_group_without_offsets_is_named(
    brokers: Brokers, name: str, plaintext_environ: dict[str, str], capsys
) -> None:
    group = ResourcePattern(ResourceType.GROUP, name)
    with closing(brokers.cluster.open_admin()) as admin:
        admin.create_acls(
            [ACL(f"User:{ANONYMOUS}", "*", ACLOperation.READ, ACLPermissionType.ALLOW, group)]
        )
    brokers.wait_for_changes()

    assert main(["lag", name, "--seconds", "0.01"], plaintext_environ) == 1
    assert capsys.readouterr().err == (
        f"penstock: no offset is committed by {name}, expected groups that have some; without a "
        "name, `penstock lag` shows all of them\n"
    )


@pytest.fixture
def topic(brokers: Brokers, name: str) -> str:
    """A topic of three partitions, of which a group has committed an offset of two.

    They have 3, 1 and 4 records, and the third has lost its first.
    """
    settings = brokers.settings(Security.PLAINTEXT)
    topic = brokers.create_topic(partitions=3)
    brokers.allow(ANONYMOUS, topic, "READ", "WRITE")
    group = ResourcePattern(ResourceType.GROUP, name)
    with closing(brokers.cluster.open_admin()) as admin:
        admin.create_acls(
            [ACL(f"User:{ANONYMOUS}", "*", ACLOperation.READ, ACLPermissionType.ALLOW, group)]
        )
        brokers.wait_for_changes()
        with closing(KafkaProducer(**client_options(settings))) as producer:
            for partition in (0, 0, 0, 1, 2, 2, 2, 2):
                producer.send(topic, b"v", partition=partition).get(60)
        admin.delete_records({TopicPartition(topic, 2): 1})
    with closing(KafkaConsumer(**client_options(settings), group_id=name)) as consumer:
        places = {TopicPartition(topic, 0): 1, TopicPartition(topic, 1): 1}
        consumer.commit({each: OffsetAndMetadata(at, "", -1) for each, at in places.items()})
    return topic


def test_the_lag_is_by_group_and_partition(
    topic: str, name: str, plaintext_environ: dict[str, str], capsys
) -> None:
    assert main(["lag", name, "--seconds", "0.01", "--output", "json"], plaintext_environ) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["group"], each["topic"]) for each in found] == [(name, topic)] * 3
    names = ("partition", "committed", "begin", "end", "lag", "catchUpSeconds")
    assert [tuple(each[name] for name in names) for each in found] == [
        (0, 1, 0, 3, 2, None),
        (1, 1, 0, 1, 0, 0.0),
        (2, None, 1, 4, 3, None),
    ]

    assert main(["lag", name, "--seconds", "0.01"], plaintext_environ) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split()[:4] == ["group", "topic", "partition", "lag"]
    assert lines[0].split()[:4] == [name, topic, "0", "2"]
    assert lines[0].endswith(" the lag does not shrink")
    assert lines[1].endswith(" none")
    assert lines[2].split()[:4] == [name, topic, "2", "3"]
    assert lines[2].endswith(" the lag does not shrink (no offset committed)")
