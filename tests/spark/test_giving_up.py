"""Records that were given up reach the table of errors, whole and many."""

from __future__ import annotations

import json
from base64 import b64decode

import pytest

from penstock.consuming import KnownSchemas
from penstock.errors import SinkAccessDeniedError
from penstock.framing import Framing
from penstock.registry import CachedRegistry, Registries
from penstock.registry.memory import MemoryRegistry
from penstock.spark.decoding.frames import split_frames
from penstock.spark.failures import DynamoDbErrors, FailureFinder, store_dead_letters
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.spark.batches import open_batches
from tests.spark.lakes import NOON_MS
from tests.spark.records import GLUE, frame, make_record, make_topic
from tests.spark.sinks import FileErrors, FileSink
from tests.stubs.dynamodb_api import serve_dynamodb

_FLOOD = 500


def test_errors_are_put_into_dynamodb_by_the_executors(spark, monkeypatch):
    rows = split_frames(make_topic(spark, [b"{}", b"\3\0cut"]), GLUE)
    with serve_dynamodb() as api:
        for name, text in {
            "AWS_ACCESS_KEY_ID": "AKIAMADEUP",
            "AWS_SECRET_ACCESS_KEY": "made-up",
            "AWS_REGION": "eu-central-1",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ENDPOINT_URL": api.endpoint,
        }.items():
            monkeypatch.setitem(spark.sparkContext.environment, name, text)

        finder = FailureFinder.of(Framing(), KnownSchemas({}))
        counts = store_dead_letters(rows, finder, DynamoDbErrors("errors", "parked"))

    kept = {request["Item"]["id"]["S"]: request["Item"] for request in api.requests}
    assert counts == {"unknown-framing": 1, "truncated": 1}
    assert {name: item["reason"]["S"] for name, item in kept.items()} == {
        f"readings/0/0/{NOON_MS}/spark": "unknown-framing",
        f"readings/0/1/{NOON_MS}/spark": "truncated",
    }
    cut = kept[f"readings/0/1/{NOON_MS}/spark"]
    assert (b64decode(cut["key"]["B"]), b64decode(cut["value"]["B"])) == (b"k", b"\3\0cut")
    assert cut["stage"]["S"] == "spark"
    assert "expected a header of 18" in cut["detail"]["S"]
    logged = b"".join(api.objects.values()).splitlines()
    assert {json.loads(line)["id"] for line in logged} == kept.keys()


def test_a_topic_of_bad_records_alone_costs_another_one_as_much_as_one_of_them(spark, tmp_path):
    """The batch has as many jobs of Spark, whatever the number of bad records."""
    registry = MemoryRegistry()
    schema = make_record(("deviceId", "string"))
    version = registry.register("sensor", schema).version
    good = frame(version, {"deviceId": "a"})
    for name in ("rows", "errors"):
        (tmp_path / name).mkdir()
    sink, errors = FileSink(tmp_path / "rows"), FileErrors(tmp_path / "errors")
    ledger = Ledger(spark, str(tmp_path / "schemas"))
    batches = open_batches(Registries([CachedRegistry(registry)]), ledger, [sink], errors)
    context = spark.sparkContext

    def take(number, bad):
        first = 1_000 * number
        records = make_topic(spark, [good] * 3, "good", first).unionByName(
            make_topic(spark, [good[:-1]] * bad, "bad", first + 3)
        )
        group = f"{tmp_path.name} {number}"
        context.setJobGroup(group, "a batch")
        try:
            counts = batches.write_batch(records, BatchId("q", number))
        finally:
            context.setLocalProperty("spark.jobGroup.id", None)
        assert (counts.rows, counts.errors) == (3, {"truncated": bad})
        return len(context.statusTracker().getJobIdsForGroup(group))

    take(0, 1)
    assert take(1, _FLOOD) == take(2, 1)

    assert len(sink.rows(spark)) == 9
    assert errors.reasons().keys() >= set(range(1_003, 1_003 + _FLOOD))


def test_the_driver_names_few_records_as_executors_name_many(spark, tmp_path, monkeypatch):
    registry = MemoryRegistry()
    version = registry.register("sensor", make_record(("n", "int"), ("text", "string"))).version
    good = frame(version, {"n": 1, "text": "aa"})
    bad = [good[:-1], good + b"\0", good[:-1] + b"\xff", good[:18] + b"\xff" * 6, b"?", b"\0\0"]
    named = {}
    for number, most in enumerate((0, 2_500)):
        monkeypatch.setattr("penstock.spark.query.parts.FEW_BAD", most)
        folder = tmp_path / f"{most}"
        for name in ("rows", "errors"):
            (folder / name).mkdir(parents=True)
        errors = FileErrors(folder / "errors")
        registries = Registries([CachedRegistry(registry)])
        ledger = Ledger(spark, str(folder / "schemas"))
        batches = open_batches(registries, ledger, [FileSink(folder / "rows")], errors)
        batches.write_batch(make_topic(spark, [good]), BatchId("q", 0))

        counts = batches.write_batch(make_topic(spark, bad, first=1), BatchId("q", 1))

        named[number] = dict(counts.errors), errors.read()

    assert named[0] == named[1]
    reasons, kept = named[1]
    assert reasons == {
        "truncated": 2, "trailing-bytes": 1, "invalid-text": 1, "undecodable": 1,
        "unknown-framing": 1,
    }  # fmt: skip
    assert [each["value"] for each in kept.values()] == [each.hex() for each in bad]


def test_the_driver_says_which_table_of_errors_denies_access(spark, tmp_path):
    registry = MemoryRegistry()
    version = registry.register("sensor", make_record(("n", "int"))).version
    good = frame(version, {"n": 1})
    (tmp_path / "rows").mkdir()
    batches = open_batches(
        Registries([CachedRegistry(registry)]),
        Ledger(spark, str(tmp_path / "schemas")),
        [FileSink(tmp_path / "rows")],
        _NoAccess(),
    )

    with pytest.raises(SinkAccessDeniedError, match=r"^errors: denied$"):
        batches.write_batch(make_topic(spark, [good, b"?"]), BatchId("q", 0))


class _NoAccess:
    def keep(self, records):
        raise SinkAccessDeniedError("errors: denied")
