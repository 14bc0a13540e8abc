"""Change data capture whose topic has lost its first records to retention."""

from __future__ import annotations

import secrets
from contextlib import closing
from dataclasses import replace

import pytest
from kafka import KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from pyspark.errors import StreamingQueryException

from penstock.errors import LostRecordsError
from penstock.extensions.cdc.spark import start_cdc
from penstock.registry import CachedRegistry, Registries
from penstock.sinks import DeadLetterSettings
from penstock.spark.settings.consume import LostOffsets, StartingOffsets
from penstock.spark.settings.lease import LeaseSettings
from systems.clusters import ANONYMOUS
from tests.spark.cdc_process import make_settings
from tests.spark.changes import CdcJob, Source


class _Job(CdcJob):
    """A job that reads a topic of a broker, as often as it is started."""

    def __init__(self, spark, folder, brokers, leases):
        database = f"cdc_{secrets.token_hex(4)}"
        super().__init__(spark, folder, f"{database}.{database}_public_film")
        self.brokers, self.topic = brokers, f"{database}.public.film"
        self.add_topic(self.topic)
        settings = make_settings(
            brokers.cluster.bootstrap_servers("PLAINTEXT").split(","),
            "memory://",
            folder / "checkpoint",
            topics=self.topic,
            current_table=f"{database}.{{table}}",
        )
        self.settings = replace(
            settings,
            dead_letters=DeadLetterSettings(leases, "none"),
            lease=LeaseSettings(lease_seconds=4, heartbeat_seconds=0.5),
            trigger="available-now",
        )

    def add_topic(self, topic):
        """Create a topic with one partition, for clients without a login."""
        with closing(self.brokers.cluster.open_admin()) as admin:
            admin.create_topics([NewTopic(topic, 1, 1)])
        self.brokers.allow(ANONYMOUS, topic, "READ", "WRITE")

    def send(self, film):
        """Write the changes of a table to the topic."""
        with closing(KafkaProducer(bootstrap_servers=self.settings.kafka.bootstrap_servers)) as to:
            for _, *record in film.log:
                key, value = self.frame("key", *record[:2]), self.frame("value", *record[2:4])
                to.send(self.topic, value, key)
        film.log.clear()

    def remove(self, before, topic=None):
        """Let Kafka remove the first records, as retention does."""
        with closing(self.brokers.cluster.open_admin()) as admin:
            admin.delete_records({TopicPartition(topic or self.topic, 0): before})

    def run(self, **changes):
        """Read what there is."""
        settings = replace(self.settings, read=replace(self.settings.read, **changes))
        registries = Registries([CachedRegistry(self.registry)])
        query = start_cdc(self.spark, settings, registries=registries, errors=self.errors)
        query.awaitTermination()


@pytest.fixture
def job(spark, lake_folder, tmp_path, kafka, leases):
    return _Job(spark, tmp_path, kafka, leases)


def test_changes_that_are_removed_stop_the_job_until_a_snapshot(job, fault):
    removed, film = fault("capture-removed"), Source()
    for at in (1, 2, 3):
        film.insert(id=at, title="first")
    job.send(film)
    job.run()
    film.update(1, title="second")
    film.delete(2)
    film.update(3, title="second")
    job.send(film)
    job.remove(before=5)

    for _ in range(2):  # not by starting again either
        with pytest.raises(StreamingQueryException, match=(
            rf"batch 1 found 2 records deleted that were not read, expected all that the topics"
            rf" were given: {job.topic}/0 3 to 4; start with --on-lost-offsets go-on"
        )):  # fmt: skip
            job.run()
    assert job.rows() != film.rows
    removed.count_seen(1)

    film.snapshot()
    job.send(film)
    job.run(on_lost_offsets=LostOffsets.GO_ON)
    removed.check(job.rows().items(), film.rows)


def test_a_job_does_not_begin_after_records_that_are_removed(job, fault):
    """Rows that have not changed since would be missing without a word."""
    removed, film = fault("capture-removed"), Source()
    for at in (1, 2, 3):
        film.insert(id=at, title="first")
    film.update(3, title="second")
    job.send(film)
    job.remove(before=2)

    with pytest.raises(LostRecordsError, match=(
        rf"found {job.topic}/0 0 to 1 removed by Kafka, expected all records since a snapshot:"
        r" tables would lack rows without a later change\. Let the connector snapshot again,"
        r" and start with --starting at the time before that, or with --on-lost-offsets go-on"
    )):  # fmt: skip
        job.run()
    assert not job.spark.catalog.tableExists(f"lake.{job.table}")
    removed.count_seen(1)

    film.snapshot()
    job.send(film)
    job.run(starting=StartingOffsets(((job.topic, 0, 4),)))
    removed.check(job.rows().items(), film.rows)
    job.run()


def test_a_topic_that_comes_later_has_its_first_records_too(job):
    film, other = Source(), f"{job.topic}.actors"
    film.insert(id=1, title="first")
    job.send(film)
    job.run()
    job.add_topic(other)
    with closing(KafkaProducer(bootstrap_servers=job.settings.kafka.bootstrap_servers)) as to:
        for _ in range(2):
            to.send(other, b"change")
    job.remove(before=2, topic=other)

    with pytest.raises(StreamingQueryException, match=(
        rf"batch 1 found 2 records deleted that were not read, .*: {other}/0 0 to 1; start with"
    )):  # fmt: skip
        job.run(topic_pattern=f"{job.topic}|{other}")
