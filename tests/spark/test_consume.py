"""The job that consumes, on a real broker: one query, whatever comes."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from kafka import TopicPartition
from pyspark.errors import StreamingQueryException

from jobs import consume
from penstock.errors import CheckpointError, CheckpointTakenError
from penstock.framing import encode_glue_frame
from penstock.kafka import Message, Security, open_producer
from penstock.registry import CachedRegistry, MemoryRegistry
from penstock.schemas import Compatibility
from penstock.spark import (
    ConsumeSettings,
    Lease,
    LostOffsets,
    ReadSettings,
    SinkSettings,
    lease,
)
from tests.fixtures.brokers import PRODUCER, keep_secret, logged_in, running_brokers
from tests.fixtures.functions import wait_until
from tests.spark.lakes import NOON_MS
from tests.spark.records import frame, make_record
from tests.spark.sinks import FileErrors
from tests.stubs.registries import UNKNOWN_ID

__all__ = ["keep_secret"]

_SECONDS = 240  # for a few batches on a machine with much else to do
_USER, _PASSWORD = "analytics", 'a"b\\c;d'  # what JAAS has to be told with care
_DEVICE, _TIME = ("deviceId", "string"), ("timestamp", "long")
_V1 = make_record(_DEVICE, _TIME)
_V2 = make_record(_DEVICE, ("temperature", ["null", "long"]), _TIME)
_V3 = make_record(_DEVICE, ("temperature", ["null", "double"]), _TIME)
_OTHER = make_record(_DEVICE, ("temperature", ["null", "string"]), _TIME)


@pytest.fixture(scope="module")
def kafka(hosts_file, tmp_path_factory):
    """One broker, whose name Spark's JVM knows too."""
    with running_brokers(tmp_path_factory.mktemp("kafka"), broker_count=1) as running:
        with hosts_file.open("a") as file:
            file.writelines(
                f"{address} {name}\n" for name, address in running.cluster.names.items()
            )
        running.cluster.set_user(_USER, _PASSWORD)
        yield running


class Job:
    """A topic with one partition, and the job that reads it, as often as it is started."""

    def __init__(self, spark, reader, brokers, secret_arn, folder):
        self.spark, self.reader, self.brokers = spark, reader, brokers
        self.said = []
        with logged_in(brokers, PRODUCER):
            self.topic = brokers.create_topic(partitions=1)
            brokers.allow(_USER, self.topic, "READ")
        self.registry = MemoryRegistry(compatibility=Compatibility.NONE)
        (folder / "errors").mkdir()
        self.errors = FileErrors(folder / "errors")
        self.settings = ConsumeSettings(
            kafka=brokers.settings(Security.SCRAM, secret_arn=secret_arn),
            read=ReadSettings(topics=(self.topic,)),
            sinks=SinkSettings("errors", "parked", lake_table=reader.name.removeprefix("lake.")),
            registry="memory://",
            checkpoint=f"file://{folder}/checkpoint",
            trigger="available-now",
        )

    def register(self, schema, name="sensor"):
        return self.registry.register(name, schema).version

    def send(self, *values):
        """Write records, all into the one partition."""
        settings = self.brokers.settings(Security.IAM)
        with logged_in(self.brokers, PRODUCER), closing(open_producer(settings)) as producer:
            producer.send_all([Message(self.topic, value, b"k") for value in values])

    def delete(self, before):
        """Let Kafka forget the first records, as retention does."""
        with closing(self.brokers.cluster.open_admin()) as admin:
            admin.delete_records({TopicPartition(self.topic, 0): before})

    def start(self, trigger="available-now", **changes):
        """Start the job as after a crash: with nothing but the checkpoint."""
        settings = replace(
            self.settings, trigger=trigger, read=replace(self.settings.read, **changes)
        )
        sinks = consume.open_sinks(self.spark, settings)
        registry = CachedRegistry(self.registry)
        return consume.start(self.spark, settings, registry, sinks, self.errors)

    def run(self, **changes):
        """Read what there is."""
        assert self.start(**changes).awaitTermination(_SECONDS)

    def lines(self, capsys, count):
        """What the job said, once it is so much; Spark tells its listeners in its own time."""

        def look():
            self.said += capsys.readouterr().out.splitlines()
            found = [json.loads(line) for line in self.said if line.startswith('{"service"')]
            return len(found) >= count and found

        return wait_until(f"{count} lines", look, _SECONDS)

    def query(self, columns):
        """The rows that came into the lake, in the order of their offsets."""
        return self.reader.query(f"SELECT {columns} FROM t ORDER BY _offset")


@pytest.fixture
def job(spark, reader, kafka, keep_secret, tmp_path):
    return Job(spark, reader, kafka, keep_secret(_USER, _PASSWORD), tmp_path)


def _reading(version, device, temperature=None):
    value = {"deviceId": device, "timestamp": NOON_MS}
    names = {field["name"] for field in version.schema["fields"]}
    return frame(version, value | ({"temperature": temperature} if "temperature" in names else {}))


def test_one_query_follows_new_versions(job):
    """Versions 2, 3 and one that contradicts them come while it runs; bad records harm nobody."""
    v1 = job.register(_V1)
    job.send(_reading(v1, "a"))
    query = job.start(trigger="1 second")
    try:
        query.processAllAvailable()
        v2 = job.register(_V2)
        job.send(_reading(v2, "b", 20), _reading(v1, "c"))
        query.processAllAvailable()
        v3, other = job.register(_V3), job.register(_OTHER, name="other")
        unknown = encode_glue_frame(UNKNOWN_ID, b"x")
        broken = _reading(v2, "x", 5)[:-1]
        job.send(_reading(v3, "d", 20.5), _reading(other, "e", "hot"), unknown, broken, b"?")
        job.send(_reading(v2, "f", 2**53))
        query.processAllAvailable()
    finally:
        query.stop()

    assert job.query("deviceId, _offset, _schema_version") == [
        ("a", 0, 1), ("b", 1, 2), ("c", 2, 1), ("d", 3, 3), ("f", 8, 2),
    ]  # fmt: skip
    assert job.query("temperature::VARCHAR") == [
        (None,), ("20.0",), (None,), ("20.5",), ("9007199254740992.0",),
    ]  # fmt: skip
    assert job.errors.reasons() == {
        4: "schema-conflict", 5: "unknown-schema", 6: "truncated", 7: "unknown-framing",
    }  # fmt: skip


def test_a_start_after_an_end_reads_on(job, capsys):
    v1 = job.register(_V1)
    job.send(_reading(v1, "a"), _reading(v1, "b"))
    job.run()
    job.run()
    job.send(_reading(v1, "c"))
    job.run()

    assert job.query("deviceId") == [("a",), ("b",), ("c",)]
    lines = job.lines(capsys, 2)
    assert [(line["batch"], line["Records"], line["Rows"]) for line in lines] == [
        (0, 2, 2), (1, 1, 1),
    ]  # fmt: skip
    assert [line["NewSchemas"] for line in lines] == [1, 0]
    assert [line["offsets"][0]["end"] for line in lines] == [
        {job.topic: {"0": 2}}, {job.topic: {"0": 3}},
    ]  # fmt: skip


def test_lost_records_are_named_and_stop_the_job(job, capsys):
    v1 = job.register(_V1)
    job.send(*(_reading(v1, str(at)) for at in range(3)))
    job.run()
    job.send(*(_reading(v1, str(at)) for at in range(3, 10)))
    job.delete(before=7)

    for _ in range(2):  # not by starting again either
        with pytest.raises(StreamingQueryException, match=(
            rf"batch 1 found 4 records deleted that were not read, expected all that the topics "
            rf"were given: {job.topic}/0 3 to 6; start with --on-lost-offsets go-on"
        )):  # fmt: skip
            job.run()
    job.run(on_lost_offsets=LostOffsets.GO_ON)

    assert [device for (device,) in job.query("deviceId")] == ["0", "1", "2", "7", "8", "9"]
    _, line = job.lines(capsys, 2)
    assert (line["lost"], line["LostRecords"]) == ([f"{job.topic}/0 3 to 6"], 4)


def test_one_job_at_a_time(job, monkeypatch):
    """Whoever comes second is refused; who was taken over while it slept stops, and is missed."""
    v1 = job.register(_V1)
    job.send(_reading(v1, "a"))
    query = job.start(trigger="1 second")
    try:
        with pytest.raises(CheckpointTakenError, match="another job works with the checkpoint"):
            job.start()
        query.processAllAvailable()
        monkeypatch.setattr(Lease, "_beat", lambda _: None)
        monkeypatch.setattr(lease, "_PATIENCE_SECONDS", 0.5)
        with Lease.claim(job.spark, job.settings.checkpoint):
            job.send(_reading(v1, "b"))
            with pytest.raises(StreamingQueryException, match="was taken over by the one with"):
                query.awaitTermination(_SECONDS)
    finally:
        query.stop()
    job.run()

    assert job.query("deviceId, _offset") == [("a", 0), ("b", 1)]


def test_a_damaged_checkpoint_is_refused_before_anything_is_read(job):
    commits = Path(urlsplit(job.settings.checkpoint).path) / "commits"
    commits.mkdir(parents=True)
    (commits / "0").write_text('v1\n{"nextBatchWatermarkMs":0}')

    with pytest.raises(CheckpointError, match=r"the file metadata of the .* is missing"):
        job.start()
