"""Records that a pass keeps for the next one are all of them, each once, or none."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.framing import encode_glue_frame
from penstock.spark.decoding import keeper as module
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from penstock.spark.decoding.keeper import RecordKeeper
from penstock.spark.rows import to_record
from tests.spark.records import GLUE, KAFKA, NOON, frame, make_record, make_topic, make_version
from tests.stubs.registries import UNKNOWN

_VERSION = make_version(1, make_record(("deviceId", "string")))
_GOOD = frame(_VERSION, {"deviceId": "a"})
_VALUES = [_GOOD, None, _GOOD[:-1], encode_glue_frame(UNKNOWN, b"x" * 99), b"?", _GOOD]


@pytest.fixture
def decode(spark):
    decoder = Decoder(spark, [_VERSION])
    return lambda records: decoder.decode(split_frames(records, GLUE))


def _keep(checked, run=lambda rows: rows.collect()):
    keeper = RecordKeeper(checked)
    run(checked.filter(keeper.condition))
    return keeper


def test_records_that_need_another_pass_are_kept_as_they_came(spark, decode):
    topic = make_topic(spark, _VALUES)

    keeper = _keep(decode(topic))

    assert keeper.has_all(3)
    found = {row.offset: row for row in keeper.read().collect()}
    assert {at: row.status for at, row in found.items()} == {
        2: "undecodable", 3: "unknown", 4: "unknown-framing",
    }  # fmt: skip
    assert set(topic.columns) <= set(keeper.read().columns)
    sent = {row.offset: to_record(row) for row in _select(topic)}
    assert {row.offset: to_record(row) for row in _select(keeper.read())} == {
        at: sent[at] for at in found
    }
    assert keeper.count_unknown() == {UNKNOWN: 1}


def test_bad_records_are_read_by_the_driver_as_an_executor_reads_them(spark, decode):
    headers = [("a", b"\0\xff"), ("", None), ("a", b"")]
    moments = [NOON, None, NOON - timedelta(days=25_000, microseconds=1), NOON, NOON, NOON]
    keys = [b"k", b"k", None, b"k", b"\x80", b"k"]
    rows = [
        (key, value, "t\u00e9", 3, 2**40 + at, moment, headers if at == 2 else None)
        for at, (key, value, moment) in enumerate(zip(keys, _VALUES, moments, strict=True))
    ]

    keeper = _keep(decode(spark.createDataFrame(rows, KAFKA)))

    wanted = [
        (to_record(row), row.status) for row in _select(keeper.read()) if row.status != "unknown"
    ]
    assert list(keeper.read_bad()) == wanted
    by_status = {status: record for record, status in wanted}  # tasks end in any order
    assert by_status.keys() == {"undecodable", "unknown-framing"}
    assert by_status["undecodable"].headers == tuple(headers)
    assert by_status["undecodable"].key is None


def _select(records):
    return records.selectExpr("*", "unix_millis(timestamp) AS timestamp_ms").collect()


def test_good_records_are_not_kept(spark, decode):
    keeper = _keep(decode(make_topic(spark, [_GOOD, None])))

    assert keeper.has_all(0)
    assert keeper.read().collect() == []
    assert not keeper.count_unknown()


def test_records_that_a_second_query_kept_too_are_not_all(spark, decode):
    def run(rows):
        rows.collect()
        rows.collect()

    keeper = _keep(decode(make_topic(spark, _VALUES)), run)

    assert not keeper.has_all(3)
    assert not keeper.has_all(6)


@pytest.mark.parametrize("name", ["_MOST_OF_TASK", "_MOST"])
def test_none_is_kept_beyond_a_limit(spark, decode, monkeypatch, name):
    checked = decode(make_topic(spark, _VALUES).repartition(2))
    for limit, rows in ((10_000, 3), (1, 0)):
        monkeypatch.setattr(module, name, limit)

        keeper = _keep(checked)

        assert keeper.has_all(3) is bool(rows)
        assert keeper.read().count() == rows


def test_what_all_tasks_keep_is_less_than_the_driver_takes(spark, decode):
    """Spark counts what a task keeps if it is more than a mebibyte."""
    checked = decode(make_topic(spark, [b"?" * 1_200_000] * 4).repartition(4))
    conf = spark.sparkContext._jsc.sc().conf()
    conf.set("spark.driver.maxResultSize", "3m")
    try:
        keeper = _keep(checked, lambda rows: rows.select("offset").collect())
    finally:
        conf.remove("spark.driver.maxResultSize")

    assert not keeper.has_all(4)
    assert keeper.read().count() == 0
