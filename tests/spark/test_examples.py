"""The examples of a job of one's own, each run on a real broker."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest
from pyspark.errors import StreamingQueryException

from examples import decode_batch, follow_topic, own_sink
from penstock.errors import SettingsError
from penstock.framing import encode_glue_frame
from penstock.kafka import java_options
from penstock.registry import Registries, RegistrySettings
from penstock.spark import SinkContext
from penstock.spark.failures import LoggedErrors
from penstock.spark.rows import check_event
from penstock.spark.sinks import kinds
from penstock.spark.sinks.settings import SinkSettings
from penstock.spark.state.lease import NoLease
from tests.spark.consuming import DEVICE, TIME, make_reading
from tests.spark.lakes import make_rows, part
from tests.spark.records import frame, make_decoded, make_record, make_version
from tests.stubs.registries import UNKNOWN

_V1 = make_record(DEVICE, TIME)
_V2 = make_record(DEVICE, ("temperature", ["null", "long"]), TIME)


@pytest.fixture
def options(job):
    """What Spark's Kafka source is told of the job's topic."""
    login = {f"kafka.{name}": text for name, text in java_options(job.settings.kafka).items()}
    prefix = f"{job.settings.read.group_prefix}spark"
    return {
        **login, "groupIdPrefix": prefix, "subscribe": job.topic, "startingOffsets": "earliest"
    }  # fmt: skip


def test_a_topic_is_decoded_in_a_batch(spark, job, options):
    v1, v2 = job.register(_V1), job.register(_V2)
    plain = {"deviceId": "b", "timestamp": 5, "temperature": 20}
    other = job.register({**_V1, "name": "order"}, "order")
    job.send(
        make_reading(other, "c"),
        make_reading(v1, "a"),
        frame(v2, plain, compress=True),
        b"?",
        encode_glue_frame(UNKNOWN, b"x"),
    )

    found = decode_batch.read_topic(spark, options, Registries([job.registry]))

    rows = found.orderBy("_offset").select(
        "_status", "event.deviceId", "event.temperature", "_reason"
    )
    contradicting, *others, missing = map(tuple, rows.collect())
    assert others == [
        ("decoded", "a", None, None), ("decoded", "b", 20, None),
        ("unknown-framing", None, None, None),
    ]  # fmt: skip
    # Two records of the topic are of the other schema.
    assert contradicting[:3] == missing[:3] == ("unknown", None, None)
    assert contradicting[3].startswith(f"schema-conflict: schema version {other.key} of order: ")
    assert missing[3] == f"unknown-schema: schema version {UNKNOWN} is not found"


def test_a_topic_is_followed_into_a_sink_of_ones_own(spark, job, options, tmp_path):
    v1 = job.register(_V1)
    job.send(make_reading(v1, "a"), b"?")
    for device, version in (("b", None), ("c", job.register(_V2))):
        query = follow_topic.follow_topic(
            spark, options, Registries([job.registry]), f"file://{tmp_path}"
        )
        assert query.awaitTermination(240)
        job.send(make_reading(version or v1, device, 20))
    query = follow_topic.follow_topic(
        spark, options, Registries([job.registry]), f"file://{tmp_path}"
    )
    assert query.awaitTermination(240)

    lines = [line for path in sorted(tmp_path.glob("rows/*/*/*.json"))
             for line in path.read_text().splitlines()]  # fmt: skip
    found = sorted((row["_offset"], row["deviceId"], row.get("temperature"))
                   for row in map(json.loads, lines))  # fmt: skip
    assert found == [(0, "a", None), (2, "b", None), (3, "c", 20)]


def test_the_consuming_job_takes_a_transform(job):
    v1, v2 = job.register(_V1), job.register(_V2)
    job.send(*(make_reading(v2, str(heat), heat) for heat in (29, 30, 31)), make_reading(v1, "a"))

    job.run(sinks=replace(job.settings.sinks, transform="examples/keep_hot.py"))

    assert job.query("deviceId, temperature") == [("30", 30), ("31", 31)]


def test_a_transform_that_changes_events_is_refused_by_dynamodb(spark):
    version = make_version(1, make_record(("n", "int")))
    rows = make_decoded(spark, version, {"n": 1})
    check_event(rows.filter("event.n = 1"))

    with pytest.raises(SettingsError, match="the transform returns another event than it was"):
        check_event(rows.withColumn("event", rows["event"].withField("n", rows["_offset"])))


@pytest.fixture
def installed(monkeypatch):
    """The kinds of sinks where the example is installed."""
    point = EntryPoint("json-lines", "examples.own_sink:JSON_LINES", "penstock.sinks")
    monkeypatch.setattr(kinds, "entry_points", lambda group: [point])
    kinds.load_kinds.cache_clear()
    yield
    kinds.load_kinds.cache_clear()


def test_a_sink_of_ones_own_has_each_row_once(installed, job, tmp_path, monkeypatch):
    folder = tmp_path / "lines"
    sinks = SinkSettings.from_args(
        ["--json-path", str(folder), "--errors-table", "e", "--parked-bucket", "b"], {}
    )
    sinks = replace(sinks, errors_table=job.settings.sinks.errors_table)
    v1 = job.register(_V1)
    job.send(make_reading(v1, "a"), frame(job.register(_V2), {
        "deviceId": "b", "timestamp": 5, "temperature": 20}), b"?")  # fmt: skip
    write, calls = own_sink.JsonLines.write, []

    def die_once(sink, rows, part):
        write(sink, rows, part)
        calls.append(part.number)
        if len(calls) == 1:
            raise OSError("dead after the first part")

    with monkeypatch.context() as patch:
        patch.setattr(own_sink.JsonLines, "write", lambda *given: die_once(*given) or {})
        with pytest.raises(StreamingQueryException, match="dead after the first part"):
            job.run(sinks=sinks)
        job.run(sinks=sinks)

    lines = [json.loads(line) for path in folder.rglob("*.json")
             for line in path.read_text().splitlines()]  # fmt: skip
    assert sorted((row["_offset"], row["deviceId"]) for row in lines) == [(0, "a"), (1, "b")]
    assert len(calls) > 1
    assert job.errors.reasons() == {2: "unknown-framing"}


def test_a_replay_into_a_sink_of_ones_own_leaves_out_what_it_has(spark, tmp_path):
    folder, schemas = tmp_path / "lines", RegistrySettings("memory://")
    context = SinkContext(spark, LoggedErrors(), NoLease(), schemas)
    sink = own_sink.JSON_LINES.open_replayed(own_sink.JsonSettings(str(folder)), context)
    rows = make_rows(spark, "deviceId string", ("a",), ("b",))

    none, first = rows.filter("false"), rows.filter("_offset = 0")
    for query, given in (("none", none), ("first", first), ("again", rows), ("last", rows)):
        sink.write(given, part(0, 0, query=query))

    lines = [json.loads(line) for path in folder.rglob("*.json")
             for line in path.read_text().splitlines()]  # fmt: skip
    assert sorted(row["deviceId"] for row in lines) == ["a", "b"]
