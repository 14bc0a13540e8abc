"""The job that consumes, started by tests as often as they like."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from itertools import zip_longest

from kafka import KafkaProducer, TopicPartition

from localcloud.testing import wait_until
from penstock.kafka import Message, Security, Topic, ensure_topic, open_producer
from penstock.registry import CachedRegistry, Registries, RegistrySettings
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility
from penstock.spark import ConsumeSettings, start_consuming
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.settings.lease import LeaseSettings
from penstock.spark.state.lease import Lease
from systems.clusters import PRODUCER, logged_in
from tests.spark.lakes import NOON_MS
from tests.spark.records import frame
from tests.spark.sinks import FileErrors, sink_settings

SECONDS = 240  # for a few batches on a machine with much else to do
USER, PASSWORD = "analytics", 'a"b\\c;d'  # what JAAS has to be told with care
_LOGIN = (
    "bootstrap_servers", "security_protocol", "sasl_mechanism", "sasl_plain_username",
    "sasl_plain_password",
)  # fmt: skip
DEVICE, TIME = ("deviceId", "string"), ("timestamp", "long")


class Job:
    """A topic with one partition, and the job that reads it, as often as it is started."""

    def __init__(self, spark, reader, brokers, account, folder):
        secret_arn, errors_table = account
        self.spark, self.reader, self.brokers = spark, reader, brokers
        self.said = []
        self.topic = self.add_topic()
        self.registry = MemoryRegistry(compatibility=Compatibility.NONE)
        (folder / "errors").mkdir()
        self.errors = FileErrors(folder / "errors")
        self.settings = ConsumeSettings(
            kafka=brokers.settings(Security.SCRAM, secret_arn=secret_arn),
            read=ReadSettings(topics=(self.topic,)),
            sinks=sink_settings(
                errors_table, "parked", lake_table=reader.name.removeprefix("lake.")
            ),
            lease=LeaseSettings(lease_seconds=4, heartbeat_seconds=0.5),
            schemas=RegistrySettings("memory://"),
            checkpoint=f"file://{folder}/checkpoint",
            trigger="available-now",
        )

    def register(self, schema, name="sensor"):
        return self.registry.register(name, schema).version

    def add_topic(self):
        """Create a second topic, and give its name."""
        with logged_in(self.brokers, PRODUCER):
            topic = self.brokers.create_topic(partitions=1)
            self.brokers.allow(USER, topic, "READ")
        return topic

    def send(self, *values, keys=(), topic=None, headers=()):
        """Write records, all into one partition unless keys say more."""
        settings = self.brokers.settings(Security.IAM)
        with logged_in(self.brokers, PRODUCER), closing(open_producer(settings)) as producer:
            producer.send_all(
                [
                    Message(topic or self.topic, value, key, headers)
                    for value, key in zip_longest(values, keys, fillvalue=b"k")
                ]
            )

    def open_producer(self, **settings):
        """Open a producer that may do all that Kafka's protocol lets it do."""
        with closing(self.brokers.cluster.open_admin()) as admin:
            login = {name: admin.config[name] for name in _LOGIN}
        return KafkaProducer(**login, **settings)

    def transact(self, *values, commit):
        """Write records in a transaction, and commit or abort it."""
        with closing(self.open_producer(transactional_id=f"tests-{self.topic}")) as producer:
            producer.init_transactions()
            producer.begin_transaction()
            for value in values:
                producer.send(self.topic, value)
            producer.flush()
            producer.commit_transaction() if commit else producer.abort_transaction()

    def delete(self, before, topic=None, partition=0):
        """Let Kafka forget the first records, as retention does."""
        place = TopicPartition(topic or self.topic, partition)
        with closing(self.brokers.cluster.open_admin()) as admin:
            admin.delete_records({place: before})

    def add_partition(self):
        """Give the topic a second partition."""
        with closing(self.brokers.cluster.open_admin()) as admin:
            admin.create_partitions({self.topic: 2})

            def count():
                return len(admin.describe_topics([self.topic])[0]["partitions"])

            wait_until("a second partition", lambda: count() == 2, SECONDS)

    def drop(self, topic):
        """Delete a topic."""
        with closing(self.brokers.cluster.open_admin()) as admin:
            admin.delete_topics([topic])
            wait_until("deleted", lambda: topic not in admin.list_topics(), SECONDS)

    def create_anew(self):
        """Delete the topic, and create another of its name."""
        self.drop(self.topic)
        with logged_in(self.brokers, PRODUCER):
            ensure_topic(self.brokers.settings(Security.IAM), Topic(self.topic, partitions=1))

    def start(self, trigger="available-now", sinks=None, **changes):
        """Start the job as after a crash: with nothing but the checkpoint."""
        settings = replace(
            self.settings,
            trigger=trigger,
            sinks=sinks or self.settings.sinks,
            read=replace(self.settings.read, **changes),
        )
        registries = Registries([CachedRegistry(self.registry)])
        return start_consuming(self.spark, settings, registries=registries, errors=self.errors)

    def claim(self):
        """Take the lease of the job, as another that is started does."""
        table = self.settings.sinks.errors_table
        return Lease.claim(table, self.settings.checkpoint, self.settings.lease)

    def run(self, **changes):
        """Read what there is."""
        assert self.start(**changes).awaitTermination(SECONDS)

    def lines(self, capsys, count):
        """What the job said, once it is so much.

        Spark tells its listeners in its own time, which may be that of the next test.
        """

        def look():
            self.said += capsys.readouterr().out.splitlines()
            lines = (json.loads(line) for line in self.said if line.startswith('{"service"'))
            whole = (line for line in lines if "offsets" in line)
            found = [line for line in whole if self.topic in line["offsets"][0]["end"]]
            return len(found) >= count and found

        return wait_until(f"{count} lines", look, SECONDS)

    def query(self, columns):
        """The rows that came into the lake, in the order of their offsets."""
        return self.reader.query(f"SELECT {columns} FROM t ORDER BY _offset")


def persisted(spark):
    """Return the ids of what the session keeps in memory or on disk."""
    return set(spark.sparkContext._jsc.getPersistentRDDs())


def make_reading(version, device, temperature=None):
    """Make a record of a device as a producer sends it."""
    value = {"deviceId": device, "timestamp": NOON_MS}
    names = {field["name"] for field in version.schema["fields"]}
    return frame(version, value | ({"temperature": temperature} if "temperature" in names else {}))
