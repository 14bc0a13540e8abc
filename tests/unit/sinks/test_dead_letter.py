"""A row of errors has all that another try needs."""

from __future__ import annotations

from penstock.errors import Failure, Reason
from penstock.framing import SchemaKey
from penstock.records import FailedRecord, Record, Source
from penstock.sinks.dead_letter import make_error

_KEY = SchemaKey.parse("d3e21a3b-f828-4f0c-9f3e-0b1f9a1c2d3e")
_SOURCE = Source("sensor", 3, 41)


def test_a_row_has_everything_that_a_replay_needs() -> None:
    record = Record(_SOURCE, b"k", b"v", (("h", b"1"), ("h", None)), 1795234015000)
    failure = Failure(Reason.TRUNCATED, "x" * 3_000)

    assert make_error(FailedRecord(record, failure, _KEY, "lambda", 1795234015788)) == {
        "id": "sensor/3/41/1795234015000",
        "kafkaTimestamp": 1795234015000,
        "reason": "truncated",
        "detail": "x" * 2_000,
        "schemaId": str(_KEY),
        "key": b"k",
        "value": b"v",
        "headers": [{"name": "h", "value": b"1"}, {"name": "h", "value": None}],
        "firstSeen": 1795234015788,
        "attempts": 0,
        "stage": "lambda",
        "nextAttemptAt": 1795234015,
    }


def test_a_row_has_no_attribute_for_a_missing_value() -> None:
    failure = Failure(Reason.TRUNCATED, "x")

    row = make_error(FailedRecord(Record(_SOURCE, None, None), failure, None, "lambda", 1))

    assert row.keys() == {
        "id", "kafkaTimestamp", "reason", "detail", "firstSeen", "attempts", "stage",
        "nextAttemptAt",
    }  # fmt: skip


def test_halves_of_surrogate_pairs_are_escaped() -> None:
    record = Record(_SOURCE, None, None, (("\udfff", b""),))
    failure = Failure(Reason.UNROUTABLE, "\ud800")

    row = make_error(FailedRecord(record, failure, None, "lambda", 1))

    assert row["detail"] == "\\ud800"
    assert row["headers"] == [{"name": "\\udfff", "value": b""}]
