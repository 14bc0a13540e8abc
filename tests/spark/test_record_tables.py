"""Tables of DynamoDB that share a Spark job: the rows and dead letters of the Lambda function."""

from __future__ import annotations

from penstock.consuming import Consumer
from penstock.framing import FrameKind, SchemaKey, encode_glue_frame
from penstock.records import DeletedWhen, Projection, Record, Source, Tombstone
from penstock.registry import Registries
from penstock.spark.query.record_tables import RecordTables
from penstock.spark.query.record_task import RecordTable
from penstock.spark.query.report import BatchCounts
from penstock.spark.query.versions import VersionLookup
from penstock.spark.state.lease import NoLease
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.spark.lakes import NOON_MS
from tests.spark.records import frame, make_record, make_topic
from tests.spark.test_stage import database, folders, row_shape, stage
from tests.stubs.consuming import FakeErrors, FakeTable, Registry
from tests.stubs.registries import UNKNOWN

__all__ = ["database", "folders", "stage"]

_ORDER = make_record(("ORDER_ID", "string"), ("STATE", ["null", "string"]), name="Order")


def _judge_as_the_function(registry, shape, records):
    """The rows by key, the newest of each, and the reasons of dead letters by topic and offset."""
    table, errors = FakeTable(shape), FakeErrors()
    Consumer(Registries([registry]), table, errors, "lambda").consume(records)
    rows = sorted(table.rows.values(), key=lambda row: row["_order"])
    sources = {each.record.source: str(each.failure.reason) for each in errors.rows.values()}
    return {row[shape.key[0]]: row for row in rows}, {
        f"{source.topic}@{source.offset}": reason for source, reason in sources.items()
    }


def test_rows_and_dead_letters_are_those_of_the_function(stage, spark, tmp_path):
    """In the batch that brings new versions, and when it comes again after a crash."""
    registry = Registry()
    wide = make_record(
        ("id", "string"), ("size", ["null", "double"]), ("OP", ["null", "string"]), name="Customer"
    )
    narrow = make_record(("id", "string"), ("size", ["null", "int"]), name="Customer")
    v1, v2, order = (
        registry.register(name, schema).version
        for name, schema in (("c", narrow), ("c", wide), ("o", _ORDER))
    )
    shapes = {
        "people": row_shape(
            "id", tombstone=Tombstone.DELETE, deleted_when=DeletedWhen("OP", ("D",))
        ),
        "orders": row_shape("ORDER_ID"),
    }
    floods = [SchemaKey(FrameKind.GLUE, number.to_bytes(16)) for number in range(1, 151)]
    values = {
        "people": [
            frame(v1, {"id": "a", "size": 1}), frame(v1, {"id": "b", "size": 2}),
            frame(v1, {"id": "c", "size": 3}, compress=True), frame(v1, {"id": "", "size": 4}),
            frame(v2, {"id": "b", "size": None, "OP": "D"}), frame(v2, {"id": "d", "size": 0.5}),
            frame(v2, {"id": "e", "size": 1.5})[:-1], frame(v2, {"id": "f", "size": 1.0}) + b"x",
            b"?", encode_glue_frame(UNKNOWN, b"x"), None,
        ],
        "orders": [
            frame(order, {"ORDER_ID": "o1", "STATE": "new"}), None,
            *(encode_glue_frame(each, b"x") for each in floods), encode_glue_frame(floods[0], b""),
        ],
    }  # fmt: skip
    for name, shape in shapes.items():
        stage.add_table(name, shape.key[0])
    tables = {
        name: RecordTable(f"{stage.name}-{name}", shape, Projection())
        for name, shape in shapes.items()
    }

    def take(number, first, end):
        registries = Registries([registry])
        lookups = {
            name: VersionLookup(spark, registries, Ledger(spark, str(tmp_path / f"ledger-{name}")))
            for name in tables
        }
        parts = [make_topic(spark, own[first:end], name, first) for name, own in values.items()]
        return RecordTables(tables, lookups, registries.framing, stage.errors, NoLease()).take(
            parts[0].union(parts[1]), BatchId("q", number), {name: [name] for name in tables}
        )

    take(0, 0, 1)
    assert registry.asked == [v1.key, order.key]
    counts = take(1, 1, None)
    assert len(registry.asked) == 2 + 2 + 100
    again = take(1, 1, None)
    assert (again, len(registry.asked)) == (counts, 104)

    reasons = {}
    for name, shape in shapes.items():
        records = [
            Record(Source(name, 0, at), b"k", value, (), NOON_MS)
            for at, value in enumerate(values[name])
        ]
        rows, own = _judge_as_the_function(registry, shape, records)
        found = stage.rows(name, shape.key[0])
        assert {key: row for key, row in found.items() if row.pop("staging_time", "-")} == rows
        reasons |= own
    assert stage.errors.reasons() == reasons
    assert counts["people"] == BatchCounts(
        10, 4, 2, 1, {"unroutable": 1, "truncated": 1, "trailing-bytes": 1, "unknown-framing": 1,
                      "unknown-schema": 1}, tombstones=1,
    )  # fmt: skip
    assert counts["orders"] == BatchCounts(152, 0, 1, 0, {"unknown-schema": 151}, tombstones=1)
