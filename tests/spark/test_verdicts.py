"""The function, a Spark batch and a replay agree on each record: its row, or why it has none."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest

from penstock.consuming import Consumer
from penstock.errors import Failure, Reason
from penstock.framing import encode_frame, encode_glue_frame
from penstock.records import FailedRecord, Record, Source
from penstock.registry import load_registries, load_registry
from penstock.schemas import encode
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore, ParkedRecords, Selection
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.replay import FailedAgain, Replay
from penstock.spark.query.table_batches import TableBatches
from penstock.spark.sinks.base import Sink
from penstock.spark.sinks.table import Table
from penstock.spark.state.schema_ledger import Lookups
from penstock.tables import BatchId
from systems.error_tables import make_error_table
from tests.fixtures.apicurio import run_apicurio
from tests.spark.batches import open_batches
from tests.spark.lakes import NOON, NOON_MS
from tests.spark.records import KAFKA, make_record
from tests.spark.sinks import FileErrors
from tests.stubs.consuming import FakeErrors, FakeTable

_ACCOUNT, _REGION = "111111111111", "eu-central-1"
_FIELDS = (("deviceId", "string"), ("timestamp", "long"))
_GLUE = make_record(*_FIELDS, ("glue", "long"))
_CONFLUENT = make_record(*_FIELDS, ("confluent", "string"))
_APICURIO = make_record(*_FIELDS, ("apicurio", ["null", "string"]))
_TOPIC, _RAW = "mixed", "raw"


@dataclass
class _Rows(Sink):
    """A sink that keeps the events of rows by their places, each once."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def write(self, rows, part):
        for row in rows.select("event", "_topic", "_offset").collect():
            place = str(Source(row["_topic"], 0, row["_offset"]))
            assert place not in self.rows
            self.rows[place] = {k: v for k, v in row["event"].asDict().items() if v is not None}
        return {}


@pytest.fixture(scope="module")
def apicurio(tmp_path_factory):
    with run_apicurio(tmp_path_factory.mktemp("apicurio")) as running:
        yield running


@pytest.fixture
def errors_table(cloud, jobs_account):
    """A table of dead letters, in an account that the driver and the executors work in."""
    session = boto3.Session(_ACCOUNT, "any", region_name=_REGION)
    database = session.resource("dynamodb", endpoint_url=cloud.endpoint)
    return make_error_table(database, f"verdicts-{secrets.token_hex(4)}")


def _event(**more):
    return {"deviceId": "d", "timestamp": NOON_MS, **more}


def _header(number, name, encoding=None):
    headers = [(f"apicurio.value.{name}", number.to_bytes(8))]
    return headers + ([("apicurio.value.encoding", encoding)] if encoding else [])


def _list(glue, confluent, apicurio):
    """Return values with their headers, and what is expected of each: a field or a reason."""
    of_glue = encode(_event(glue=7), _GLUE)
    of_confluent = encode(_event(confluent="c"), _CONFLUENT)
    of_apicurio = encode(_event(apicurio="a"), _APICURIO)
    global_id, content_id = int.from_bytes(apicurio.id), int.from_bytes(confluent.id)
    unknown = [bytes([3, 0]) + b"\1" * 16, b"\0\0\x0f\xff\xff", b"\0" * 6 + b"\x0f\xff\xff"]
    return [
        (encode_glue_frame(glue, of_glue), [], "glue"),
        (encode_glue_frame(glue, of_glue, True), [], "glue"),
        (encode_frame(confluent, of_confluent), [], "confluent"),
        (of_confluent, [("__value_schema_id", confluent.pack())], "confluent"),
        (of_confluent, _header(content_id, "contentId"), "confluent"),
        (encode_frame(apicurio, of_apicurio), [], "apicurio"),
        (of_apicurio, _header(global_id, "globalId", b"BINARY"), "apicurio"),
        (of_apicurio, _header(global_id, "globalId", b"JSON"), Reason.UNKNOWN_FRAMING),
        (of_apicurio, [("apicurio.value.globalId", b"\7")], Reason.UNKNOWN_FRAMING),
        (of_confluent, [("__value_schema_id", b"")], Reason.TRUNCATED),
        *((value + of_glue, [], Reason.UNKNOWN_SCHEMA) for value in unknown),
        (of_apicurio, _header(2**20, "globalId"), Reason.UNKNOWN_SCHEMA),
        (b'{"deviceId": "d"}', [], Reason.UNKNOWN_FRAMING),
        (b"", [("other", b"x")], Reason.UNKNOWN_FRAMING),
        (bytes(9), [], Reason.UNKNOWN_FRAMING),
        (encode_frame(apicurio, b"")[:7], [], Reason.TRUNCATED),
        (encode_frame(confluent, b""), [], Reason.TRUNCATED),
        (encode_frame(apicurio, of_apicurio + b"\0"), [], Reason.TRAILING_BYTES),
        (None, [], "tombstone"),
    ]


def _list_raw(apicurio):
    """Return the same for the topic without frames, whose schema is Confluent's."""
    raw = encode(_event(confluent="raw"), _CONFLUENT)
    of_apicurio = encode(_event(apicurio="a"), _APICURIO)
    header = _header(int.from_bytes(apicurio.id), "globalId")
    return [
        (raw, [], "confluent"),
        (of_apicurio, header, "apicurio"),
        (raw + b"\0", [], Reason.TRAILING_BYTES),
        (of_apicurio, [], Reason.TRAILING_BYTES),
        (b"\0", [], Reason.TRUNCATED),
    ]


def _judge(rows, reasons, records):
    """Return the field that tells whose schema a row has, or the reason, of each record."""

    def judge(offset, record):
        if row := rows.get(str(record.source)):
            (own,) = row.keys() & {"glue", "confluent", "apicurio"}
            return own
        return reasons.get(offset) or "tombstone"

    return {offset: judge(offset, record) for offset, record in records.items()}


def _reason_of(failed):
    return {each.record.source.offset: str(each.failure.reason) for each in failed}


def test_function_batch_and_replay_agree_on_frames_of_three_registries(
    spark, errors_table, client, apicurio, tmp_path
):
    name = f"verdicts-{secrets.token_hex(4)}"
    client("glue").create_registry(RegistryName=name)
    urls = (f"glue://{name}?region={_REGION}", apicurio.confluent_url, apicurio.own_url)
    glue, confluent, own = (
        load_registry(url).register(f"readings-{at}", schema).version.key
        for at, (url, schema) in enumerate(zip(urls, (_GLUE, _CONFLUENT, _APICURIO), strict=True))
    )
    listed = [(_TOPIC, *each) for each in _list(glue, confluent, own)]
    listed += [(_RAW, *each) for each in _list_raw(own)]
    records = {
        at: Record(Source(topic, 0, at), b"k", value, tuple(headers), NOON_MS)
        for at, (topic, value, headers, _) in enumerate(listed)
    }

    def load():
        return load_registries(" ".join(urls), unframed={_RAW: confluent})

    table, given_up = FakeTable(), FakeErrors()
    Consumer(load(), table, given_up, "lambda").consume(records.values())
    by_function = _judge(table.rows, _reason_of(given_up.rows.values()), records)

    rows = [
        (each.key, each.value, each.source.topic, 0, at, NOON, list(each.headers))
        for at, each in records.items()
    ]
    (tmp_path / "errors").mkdir()
    sink, errors = _Rows(), FileErrors(tmp_path / "errors")
    open_batches(load(), Lookups(), [sink], errors).write_batch(
        spark.createDataFrame(rows, KAFKA), BatchId("query", 0)
    )
    by_batch = _judge(sink.rows, errors.reasons(), records)

    framed = {at: each for at, each in records.items() if each.value is not None}
    replayed, failed = _replay(spark, load(), errors_table, framed.values())
    by_replay = _judge(replayed, failed, framed)

    assert by_function == {at: expected for at, (*_, expected) in enumerate(listed)}
    assert by_batch == by_function
    assert by_replay == {at: by_function[at] for at in framed}


def _replay(spark, registries, table, records):
    """Write records as dead letters and replay them; return the rows, and the reasons by offset."""
    store, name = ObjectStore("no-bucket"), "replay"
    letters = ErrorTable(DynamoDbClient(), table.name, store)
    first = Failure(Reason.SINK_REFUSED, "")
    letters.keep_rows([FailedRecord(each, first, None, "lambda", 5) for each in records])
    sink = _Rows()
    context = BatchContext(registries, FailedAgain(table.name, name, Selection()))
    batches = TableBatches([Table((sink,))], lambda _: Lookups(), context)
    Replay(spark, name, letters, batches, ParkedRecords(store)).run(Selection())
    left = (row for row in table.scan()["Items"] if "doneAt" not in row)
    return sink.rows, {int(row["id"].split("/")[2]): row["reason"] for row in left}
