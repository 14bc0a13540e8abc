"""Thousands of records that mean harm, in whole batches: each ends where it belongs, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pprint import saferepr
from typing import Any

import pytest

from penstock.errors import PenstockError
from penstock.framing import FrameKind, decode_frame
from penstock.registry import Registries
from penstock.schemas import merge_schemas
from penstock.schemas.codec import compile_decoder
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.spark.batches import open_batches
from tests.spark.hostile import ROW, Attacker, HostileRegistry
from tests.spark.records import make_topic
from tests.spark.sinks import FileErrors, FileSink

pytestmark = pytest.mark.usefixtures("compiled", "many_lookups")


def _judge(registry: HostileRegistry) -> Callable[[bytes | None], tuple[str, Any]]:
    """Tell what the functions' code makes of a record: a row with its event, or a reason."""
    merged = merge_schemas([each.schema for each in registry.good])
    # A whole number is rounded, if at all, in a record that has no other fault.
    decoders = {
        each.key: (compile_decoder(each.schema), compile_decoder(each.schema, merged))
        for each in registry.good
    }

    def judge(value: bytes | None) -> tuple[str, Any]:
        try:
            opened = decode_frame(value)
            if opened is None:
                return "tombstone", None
            if opened.key.kind is not FrameKind.GLUE:
                return "no-registry-for-framing", None
            if opened.key in decoders:
                alone, read = decoders[opened.key]
                alone(opened.payload)
                return ROW, read(opened.payload)
            return registry.refused.get(opened.key, "unknown-schema"), None
        except PenstockError as error:
            return str(error.reason), None

    return judge


@pytest.fixture
def many_lookups(monkeypatch):
    """Damaged ids are unknown ones; beyond the limit, rare versions would not be looked up."""
    monkeypatch.setattr("penstock.spark.query.versions._MAX_REFUSED", 10_000)


def test_hostile_records_end_where_they_belong(spark, seeded, trials, tmp_path, fault):
    registry = HostileRegistry(seeded)
    attacker, judge = Attacker(seeded, registry), _judge(registry)
    outcomes: Counter[str] = Counter()
    attacks = fault("hostile-records")

    for number in range(trials(2, 40)):
        hostile = attacker.records(1_000)
        sent = [each for pair in hostile for each in (pair, (attacker.good(), ROW))]
        rows, errors = _take(spark, registry, [value for value, _ in sent], number, tmp_path)
        wanted = {}
        for at, (value, known) in enumerate(sent):
            expected, event = judge(value)
            assert known in {None, expected}, (known, expected, value)
            outcomes[expected] += 1
            if expected == ROW:
                # A map has no order: Spark gives its entries to Python in that of a HashMap.
                wanted[at] = saferepr(event)
            elif expected != "tombstone":
                wanted[at] = (expected, value.hex())
        attacks.count(len(hostile), fired=len(hostile))
        attacks.check([*((at, saferepr(row)) for at, row in rows.items()), *errors.items()], wanted)

    assert outcomes[ROW] >= 0.5 * outcomes.total(), outcomes
    assert set(outcomes) >= {
        "inflate-limit", "invalid-text", "no-registry-for-framing", "recursive-schema",
        "schema-conflict", "tombstone", "trailing-bytes", "truncated", "undecodable",
        "unknown-framing", "unknown-schema", "unroutable",
    }, outcomes  # fmt: skip


def _take(spark, registry, values, number, folder):
    """Take a batch, and give what became rows and what errors, by their places."""
    made = folder / f"{number}"
    for name in ("rows", "errors"):
        (made / name).mkdir(parents=True)
    sink, errors = FileSink(made / "rows"), FileErrors(made / "errors")
    ledger = Ledger(spark, str(folder / "ledger"))
    batches = open_batches(Registries([registry]), ledger, [sink], errors)
    counts = batches.write_batch(make_topic(spark, values), BatchId("q", number))
    rows, kept = sink.rows(spark), errors.read()
    assert (counts.records, counts.rows) == (len(values), len(rows))
    assert sum(counts.errors.values()) == len(kept)
    return rows, {at: (error["reason"], error["value"]) for at, error in kept.items()}
