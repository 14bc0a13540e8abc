"""Tables of DynamoDB that share a Spark job: the rows and dead letters of the Lambda function."""

from __future__ import annotations

from decimal import Decimal

from penstock.framing import FrameKind, SchemaKey, encode_glue_frame
from penstock.records import DeletedWhen, Tombstone
from penstock.registry import Registries
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.report import BatchCounts
from penstock.spark.query.table_batches import TableBatches
from penstock.spark.sinks.dynamodb import DynamoDbTable
from penstock.spark.sinks.table import Route, Table
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.spark.records import frame, make_record, make_topic
from tests.spark.test_stage import database, folders, row_shape, stage
from tests.stubs.registries import UNKNOWN, CountedRegistry

__all__ = ["database", "folders", "stage"]

_ORDER = make_record(("ORDER_ID", "string"), ("STATE", ["null", "string"]), name="Order")


def test_tables_share_a_job_and_a_batch_that_comes_again_is_the_same(stage, spark, tmp_path):
    """In the batch that brings new versions, and when it comes again after a crash."""
    registry = CountedRegistry()
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
    tables = [
        Table(
            (DynamoDbTable(f"{stage.name}-{name}", stage.errors, shape),),
            Route(topics=(name,)),
            name,
        )
        for name, shape in shapes.items()
    ]

    def take(number, first, end):
        batches = TableBatches(
            tables,
            lambda name: Ledger(spark, str(tmp_path / f"ledger-{name}")),
            BatchContext(Registries([registry]), stage.errors),
        )
        parts = [make_topic(spark, own[first:end], name, first) for name, own in values.items()]
        return batches.write_batch(parts[0].union(parts[1]), BatchId("q", number))

    take(0, 0, 1)
    assert registry.asked == [v1.key, order.key]
    counts = take(1, 1, None)
    assert len(registry.asked) == 2 + 2 + 100
    again = take(1, 1, None)
    assert (again, len(registry.asked)) == (counts, 104)

    people, orders = (stage.rows(*each) for each in (("people", "id"), ("orders", "ORDER_ID")))
    assert {key: (row.get("size"), row.get("_deleted")) for key, row in people.items()} == {
        "a": (1, None), "b": (None, True), "c": (3, None), "d": (Decimal("0.5"), None),
        "k": (None, True),
    }  # fmt: skip
    assert {key: row["STATE"] for key, row in orders.items()} == {"o1": "new"}
    assert stage.errors.reasons() == {
        "people@3": "unroutable", "people@6": "truncated", "people@7": "trailing-bytes",
        "people@8": "unknown-framing", "people@9": "unknown-schema",
        **{f"orders@{at}": "unknown-schema" for at in range(2, 153)},
    }  # fmt: skip
    assert counts.tables["people"] == BatchCounts(
        10, 4, 2, 1,
        {"unroutable": 1, "truncated": 1, "trailing-bytes": 1, "unknown-framing": 1,
         "unknown-schema": 1},
        tombstones=1,
    )  # fmt: skip
    assert counts.tables["orders"] == BatchCounts(
        152, 0, 1, 0, {"unknown-schema": 151}, tombstones=1
    )
