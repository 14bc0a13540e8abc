"""A record has one fate: the same row, or the same dead letter, by each way to each table."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, field
from datetime import date

import boto3
import pytest

from penstock.consuming import Consumer, RecordReader, SchemaReaders
from penstock.errors import Failure, Reason
from penstock.records import FailedRecord, Projection, Record, Row, RowShape, Source
from penstock.registry import Registries
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility
from penstock.sinks import (
    DynamoDbClient,
    ErrorTable,
    ObjectStore,
    ParkedRecords,
    Selection,
    open_table,
)
from penstock.spark.lake.conversion import EventTime
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.replay import FailedAgain, Replay
from penstock.spark.query.table_batches import TableBatches
from penstock.spark.sinks.dynamodb import DynamoDbTable
from penstock.spark.sinks.iceberg import Lake
from penstock.spark.sinks.table import Route, Table
from penstock.spark.state.schema_ledger import Lookups
from penstock.tables import BatchId
from systems.error_tables import make_error_table
from systems.tables import make_table
from tests.oracle.generate import Maker
from tests.spark.lakes import NOON_MS
from tests.spark.records import frame, make_record, make_topic
from tests.spark.sinks import FileErrors
from tests.stubs.consuming import FakeErrors

_ACCOUNT, _REGION = "111111111111", "eu-central-1"
_TOPIC = "readings"
_SHAPE = RowShape(("id",), sort_name="place", event_time=None)
_STAGED = Projection(constant="staging_time")
_LONG_NAME = "n" * 220
_OF_TABLES = {Reason.SINK_REFUSED, Reason.OVERSIZE}  # what DynamoDB cannot hold


def _logical(kind, name, **more):
    return {"type": kind, "logicalType": name, **more}


_FIELDS = {
    "day": _logical("int", "date"),
    "millis": _logical("long", "timestamp-millis"),
    "micros": _logical("long", "timestamp-micros"),
    "local_millis": _logical("long", "local-timestamp-millis"),
    "local_micros": _logical("long", "local-timestamp-micros"),
    "time": _logical("int", "time-millis"),
    "money": _logical("bytes", "decimal", precision=38, scale=2),
    "coins": {
        "type": "fixed", "name": "Coins", "size": 4, "logicalType": "decimal", "precision": 9,
    },
    "wide": _logical("bytes", "decimal", precision=39, scale=2),
    "double": "double",
    "float": "float",
    "long": "long",
    "flag": "boolean",
    "text": "string",
    "raw": "bytes",
    "enum": {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]},
    "list": {"type": "array", "items": ["null", "double"]},
    "map": {"type": "map", "values": make_record(("x", ["null", "long"]), name="Inside")},
    "either": ["null", "long", "string", make_record(("y", "string"), name="Other")],
    _LONG_NAME: make_record(("deep", {"type": "array", "items": "string"}), name="Deep"),
}  # fmt: skip
_USUAL = {
    "day": 20_000, "millis": NOON_MS, "micros": NOON_MS * 1_000, "local_millis": NOON_MS,
    "local_micros": NOON_MS * 1_000, "time": 1, "money": b"\1", "coins": b"\0\0\0\1",
    "wide": b"\1", "double": 0.5, "float": 0.5, "long": 1, "flag": True, "text": "a", "raw": b"b",
    "enum": "RED", "list": [1.5, None], "map": {"k": {"x": 1}}, "either": "text",
    _LONG_NAME: {"deep": ["a"]},
}  # fmt: skip
_DAYS = [-(2**31), -719_529, -719_163, -719_162, 0, 2_932_896, 2_932_897, 3_000_000, 2**31 - 1]
_MILLIS = [day * 86_400_000 for day in _DAYS] + [2**62, -(2**63), 2**63 - 1]
_MICROS = [-(2**63), 2**62, 2**63 - 1, -62_135_596_800_000_001, 253_402_300_800_000_000]
_EDGES = {
    "day": _DAYS, "millis": _MILLIS, "local_millis": _MILLIS, "micros": _MICROS,
    "local_micros": _MICROS,
    "money": [(10**38 - 1).to_bytes(16), (-(10**38) + 1).to_bytes(16, signed=True),
              (10**38).to_bytes(17), b"\x7f" * 2_000, b"", b"\0" * 30],
    "coins": [(10**9 - 1).to_bytes(4), (10**9).to_bytes(4), b"\x80\0\0\0"],
    "wide": [b"\x7f" * 17, b"", b"\xff" * 300],
    "double": [-0.0, 0.0, 1e40, 1e38, 9.99e125, 1e126, 5e-324, 1e-130, math.inf, math.nan, 1e308],
    "float": [-0.0, 3.4e38, math.nan, -math.inf, 1e-45],
    "long": [2**63 - 1, -(2**63), 2**53 + 1],
    "text": ["", "\0", "\U0010ffff", "x" * 409_600, "y" * 399_000],
    "raw": [b"", b"z" * 400_000],
    "list": [[], [None], [None] * 2_000], "map": [{}, {"a": {"x": None}}, {"a.b": {"x": 2**62}}],
    "either": [None, 2**62, {"y": ""}], _LONG_NAME: [{"deep": []}],
    "time": [-1, 2**31 - 1], "enum": ["BLUE"], "flag": [False],
}  # fmt: skip


def _frame_lenient(version, value):
    """Encode a value as a client does that does not look at it: ours refuses what is not finite."""
    import io  # noqa: PLC0415

    import fastavro  # noqa: PLC0415

    out = io.BytesIO()
    plain = fastavro.parse_schema(_without_logical(version.schema))
    fastavro.schemaless_writer(out, plain, value)
    header = frame(version, {"id": "", **_USUAL})[:18]
    return header + out.getvalue()


def _without_logical(schema):
    if isinstance(schema, list):
        return [_without_logical(each) for each in schema]
    if isinstance(schema, dict):
        return {k: _without_logical(v) for k, v in schema.items() if k != "logicalType"}
    return schema


@dataclass
class Fates:
    """The rows and the reasons of dead letters that one way leaves, by offset."""

    rows: dict[int, dict] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)


class World:
    """Ways from a topic to tables of an account."""

    def __init__(self, spark, cloud, reader, folder):
        session = boto3.Session(_ACCOUNT, "any", region_name=_REGION)
        self.database = session.resource("dynamodb", endpoint_url=cloud.endpoint)
        self.spark, self.reader, self.folder = spark, reader, folder
        self.registry = MemoryRegistry(compatibility=Compatibility.NONE)
        self.registries = Registries([self.registry])
        self.client = DynamoDbClient()

    def make_table(self):
        return make_table(self.database, f"fate-{secrets.token_hex(4)}", "id", "place")

    def by_function(self, values):
        table, errors = self.make_table(), FakeErrors()
        writer = open_table(self.client, table.name, _SHAPE)
        Consumer(self.registries, writer, errors, "lambda").consume(_records(values))
        reasons = {row.record.source.offset: row.failure.reason for row in errors.rows.values()}
        return Fates(_read(table), reasons)

    def by_spark(self, values, *, lake=False, columns=None):
        table, errors = self.make_table(), FileErrors(self.folder / secrets.token_hex(4))
        errors.folder.mkdir()
        sinks = [DynamoDbTable(table.name, errors, _SHAPE, columns)]
        if lake:
            name = self.reader.name.removeprefix("lake.")
            sinks.append(Lake(self.spark, name, EventTime("day"), errors=errors))
        route = Route(topics=(_TOPIC,)) if columns else Route()
        batches = TableBatches(
            [Table(tuple(sinks), route, "staged" if columns else "", columns)],
            lambda _: Lookups(),
            BatchContext(self.registries, errors),
        )
        batches.write_batch(make_topic(self.spark, values), BatchId("q", 0))
        return Fates(_read(table), errors.reasons())

    def by_replay(self, values):
        table = self.make_table()
        letters = make_error_table(self.database, f"letters-{secrets.token_hex(4)}")
        rows = ErrorTable(self.client, letters.name, ObjectStore("no-bucket"))
        first = Failure(Reason.UNKNOWN_SCHEMA, "")
        # What no row of the table holds is on S3, which is another test's.
        small = [each for each in _records(values) if len(each.value) < 350_000]
        rows.keep_rows([FailedRecord(each, first, None, "lambda", 5) for each in small])
        context = BatchContext(self.registries, FailedAgain(letters.name, "replay", Selection()))
        sink = DynamoDbTable(table.name, context.errors, _SHAPE)
        batches = TableBatches([Table((sink,))], lambda _: Lookups(), context)
        parked = ParkedRecords(ObjectStore("no-bucket"))
        Replay(self.spark, "replay", rows, batches, parked).run(Selection())
        left = [row for row in letters.scan()["Items"] if "doneAt" not in row]
        return Fates(_read(table), {int(r["id"].split("/")[2]): r["reason"] for r in left})

    def by_terminal(self, values):
        schemas = SchemaReaders(self.registries)
        reader = RecordReader(self.registries.framing, schemas, "terminal", keys=schemas)
        return [isinstance(reader.read(each), Row) for each in _records(values)]


def _records(values):
    return [
        Record(Source(_TOPIC, 0, at), b"k", each, (), NOON_MS) for at, each in enumerate(values)
    ]


def _read(table):
    """The rows of a table by offset."""
    found, more = [], {}
    while True:
        page = table.scan(**more)
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    return {int(row["_source"].split("/")[2]): row for row in found}


@pytest.fixture
def world(spark, cloud, reader, jobs_account, tmp_path):
    return World(spark, cloud, reader, tmp_path)


def _agree(world, values):
    """Check that all ways agree; return what they agree on."""
    by_function = world.by_function(values)
    for other in (world.by_spark(values), world.by_spark(values, lake=True)):
        assert other.reasons == by_function.reasons
        assert other.rows == by_function.rows
    staged = world.by_spark(values, columns=_STAGED)
    assert {each.pop("staging_time", None) is None for each in staged.rows.values()} == {False}
    assert (staged.rows, staged.reasons) == (by_function.rows, by_function.reasons)
    replayed = world.by_replay(values)
    large = {at for at, each in enumerate(values) if len(each) >= 350_000}
    assert {at: by_function.rows[at] for at in by_function.rows.keys() - large} == replayed.rows
    assert {
        at: by_function.reasons[at] for at in by_function.reasons.keys() - large
    } == replayed.reasons
    assert by_function.rows.keys() | by_function.reasons.keys() == set(range(len(values)))
    refused = {at for at, reason in by_function.reasons.items() if reason not in _OF_TABLES}
    assert world.by_terminal(values) == [at not in refused for at in range(len(values))]
    found = {row[0] for row in world.reader.query("SELECT _offset FROM t")}
    assert found == set(range(len(values))) - refused
    return by_function


def test_no_value_at_the_edge_of_its_type_ends_a_task_or_has_two_fates(world):
    schema = make_record(("id", "string"), *_FIELDS.items())
    version = world.registry.register("sensor", schema).version
    edges = [(name, value) for name, values in _EDGES.items() for value in values]
    values = [
        _frame_lenient(version, {"id": f"{at}", **_USUAL, name: value})
        for at, (name, value) in enumerate(edges)
    ]

    fates = _agree(world, values)

    reasons = {edges[at]: reason for at, reason in fates.reasons.items() if edges[at][0] != "raw"
               and not isinstance(edges[at][1], list)}  # fmt: skip
    undecodable = {edge for edge, reason in reasons.items() if reason == "undecodable"}
    assert undecodable == {
        *(("money", each) for each in _EDGES["money"][2:5]), ("coins", (10**9).to_bytes(4)),
        ("coins", b"\x80\0\0\0"),
        *((name, each) for name in ("millis", "local_millis")
          for each in _MILLIS if abs(each) > (2**63 - 1) // 1_000),
    }  # fmt: skip
    assert set(fates.reasons.values()) == {"undecodable", *_OF_TABLES}
    days = dict(world.reader.query("SELECT _offset, CAST(_event_time AS DATE) FROM t"))
    far = next(at for at, edge in enumerate(edges) if edge == ("day", 3_000_000))
    assert days[far] == date(2026, 11, 21), "a day that is far from Kafka's timestamp is no day"


@pytest.mark.parametrize(
    ("type_", "keys", "texts"),
    [
        ("long", [17, -1, 0, 2**63 - 1], ["17", "-1", "0", str(2**63 - 1)]),
        (_logical("bytes", "decimal", precision=9, scale=2), [b"\6\xa4", b"\0"], ["17", "0"]),
    ],
    ids=["long", "decimal"],
)
def test_a_key_that_is_a_whole_number_is_one_row(world, type_, keys, texts):
    version = world.registry.register("sensor", make_record(("id", type_))).version

    fates = _agree(world, [frame(version, {"id": each}) for each in keys])

    assert [(fates.rows[at]["id"], fates.reasons) for at in range(len(keys))] == [
        (text, {}) for text in texts
    ]
    assert [row["_event"]["id"] for _, row in sorted(fates.rows.items())] == list(map(int, texts))


_NOTHING = make_record(("none", "null"), name="Nothing")
_PART = make_record(("x", ["null", "long"]), ("t", ["null", "string"]), ("e", _NOTHING), name="P")
_VALUE = make_record(("m", ["null", {"type": "map", "values": ["null", "long"]}]), name="V")
_CHOSEN = {
    "either": ["null", "long", "string", _PART],
    "part": ["null", "P"],
    "nothing": ["null", "Nothing"],
    "map": ["null", {"type": "map", "values": ["null", _VALUE]}],
    "list": ["null", {"type": "array", "items": "string"}],
    "text": ["null", "string"],
    "flag": ["null", "boolean"],
}  # fmt: skip


def test_a_record_whose_chosen_columns_are_empty_is_no_row_in_any_table(world):
    nothing = {"none": None}
    blank = {"x": None, "t": None, "e": nothing}
    empty = [
        {}, {"either": ""}, {"either": ("P", blank)}, {"part": blank}, {"nothing": nothing},
        {"map": {}}, {"map": {"k": {"m": None}, "l": {"m": {}}}}, {"text": ""},
        {"map": {}, "part": blank, "either": ""},
    ]  # fmt: skip
    kept = [
        {"either": "a"}, {"either": 0}, {"either": ("P", {**blank, "t": ""})}, {"list": []},
        {"part": {**blank, "t": ""}}, {"part": {**blank, "x": 0}}, {"map": {"k": None}},
        {"map": {"k": {"m": {"l": None}}}}, {"flag": False}, {"text": " "},
    ]  # fmt: skip
    schema = make_record(("id", "string"), *_CHOSEN.items())
    version = world.registry.register("sensor", schema).version
    fields = {"id": "", **dict.fromkeys(_CHOSEN)}
    values = [frame(version, {**fields, **each}) for each in (*empty, *kept)]

    fates = world.by_spark(values, lake=True, columns=Projection(tuple(fields)))

    rows = dict.fromkeys(range(len(empty), len(values)), "unroutable")  # they have no key
    assert fates == Fates({}, rows)
    assert {row[0] for row in world.reader.query("SELECT _offset FROM t")} == rows.keys()


def test_generated_records_have_one_fate(world, seeded, trials):
    for _ in range(trials(1, 20)):
        maker = Maker(seeded)
        schema = maker.record()
        schema["fields"].insert(0, {"name": "id", "type": "string"})
        version = world.registry.register(f"s{secrets.token_hex(4)}", schema).version
        values = []
        for at in range(30):
            whole = frame(version, {**maker.value(schema), "id": f"{at}"})
            values.append(whole if at % 5 else whole[: -1 - at % 3])

        fates = _agree(world, values)

        assert len(fates.rows) >= 20
        world.spark.sql(f"DROP TABLE {world.reader.name}")
