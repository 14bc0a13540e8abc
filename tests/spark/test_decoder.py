"""Any number of versions by one expression: the values are those of each version by itself."""

from __future__ import annotations

import struct
from collections import Counter

import pytest
from chispa import assert_df_equality

from penstock.errors import LossyWideningError, SchemaConflictError
from penstock.schemas import decode, encode, merge_schemas
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from penstock.tables import COORDINATES
from tests.oracle.evolve import COMPATIBLE, evolve
from tests.oracle.generate import Maker
from tests.spark.records import (
    GLUE,
    NOON,
    as_spark_gives,
    fill_members,
    frame,
    make_record,
    make_topic,
    make_version,
)

pytestmark = pytest.mark.usefixtures("compiled")

V1 = make_version(1, make_record(("deviceId", "string")))
V2 = make_version(2, make_record(("deviceId", "string"), ("temperature", ["null", "long"])))
V3 = make_version(3, make_record(("deviceId", "string"), ("temperature", ["null", "double"])))


def _decode(spark, decoder, values):
    return decoder.decode(split_frames(make_topic(spark, values), GLUE))


def _statuses(spark, decoder, values):
    rows = _decode(spark, decoder, values).select("offset", "status").collect()
    return [row.status for row in sorted(rows)]


def _bits(value):
    """Make floats comparable by their bits."""
    if isinstance(value, dict):
        return {key: _bits(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_bits(item) for item in value]
    return struct.pack("<d", value) if isinstance(value, float) else value


def test_rows_of_all_versions_have_the_columns_of_all(spark):
    decoder = Decoder(spark, [V1, V2, V3])
    values = [
        frame(V3, {"deviceId": "a", "temperature": 30.5}),
        frame(V2, {"deviceId": "b", "temperature": 30}),
        frame(V1, {"deviceId": "c"}),
        frame(V2, {"deviceId": "d", "temperature": None}),
    ]

    rows = decoder.select(_decode(spark, decoder, values))

    assert [(row["_key"], row["_value"], row["_headers"]) for row in rows.collect()] == [
        (b"k", value, None) for value in values
    ]
    expected = [
        ("a", 30.5, "readings", 0, 0, NOON, str(V3.key), 3),
        ("b", 30.0, "readings", 0, 1, NOON, str(V2.key), 2),
        ("c", None, "readings", 0, 2, NOON, str(V1.key), 1),
        ("d", None, "readings", 0, 3, NOON, str(V2.key), 2),
    ]
    columns = (
        "deviceId string, temperature double, _topic string, _kafka_partition int, _offset bigint,"
        " _kafka_timestamp timestamp, _schema_id string, _schema_version int"
    )
    assert_df_equality(
        rows.select("event.*", *COORDINATES),
        spark.createDataFrame(expected, columns),
        ignore_nullable=True,
        ignore_row_order=True,
    )


def test_each_record_gets_its_status(spark):
    good = frame(V2, {"deviceId": "a", "temperature": 7})
    text = good.replace(b"\2a", b"\2\xff")
    values = [
        good, good[:-1], good + b"\0", text, frame(V3, {"deviceId": "a", "temperature": 1.0}),
        None, b"{}", frame(V1, {"deviceId": ""}),
        frame(V2, {"deviceId": "é", "temperature": 2**53}),
    ]  # fmt: skip

    assert _statuses(spark, Decoder(spark, [V1, V2]), values) == [
        "decoded", "undecodable", "trailing-bytes", "invalid-text", "unknown",
        "tombstone", "unknown-framing", "decoded", "decoded",
    ]  # fmt: skip


def test_a_number_that_a_double_would_round_is_reported(spark):
    numbers = [2**53, 2**53 + 1, 2**53 + 2, -(2**53), -(2**53) - 1, 2**63 - 1, -(2**63), None]
    values = [frame(V2, {"deviceId": "a", "temperature": number}) for number in numbers]

    found = _statuses(spark, Decoder(spark, [V1, V2, V3]), values)

    lossy = "lossy-widening"
    assert found == ["decoded", lossy, lossy, "decoded", lossy, lossy, lossy, "decoded"]


def test_versions_that_contradict_each_other_make_no_decoder(spark):
    with pytest.raises(SchemaConflictError, match=r"temperature: long .*in one version"):
        Decoder(spark, [V2, make_version(4, make_record(("temperature", "string")))])


def test_fields_that_differ_in_case_alone_are_both_kept(spark):
    version = make_version(1, make_record(("_topic", "string"), ("Temp", "int"), ("temp", "int")))
    decoder = Decoder(spark, [version])
    values = [frame(version, {"_topic": "mine", "Temp": 1, "temp": 2})]

    (row,) = decoder.select(_decode(spark, decoder, values)).collect()

    assert row["event"].asDict() == {"_topic": "mine", "Temp": 1, "temp": 2}
    assert row["_topic"] == "readings"


def test_fields_that_hold_nothing_are_left_out(spark):
    empty = make_record(("inside", "null"), name="Empty")
    version = make_version(1, make_record(("a", "int"), ("nothing", "null"), ("empty", empty)))
    decoder = Decoder(spark, [version])
    value = {"a": 1, "nothing": None, "empty": {"inside": None}}

    rows = decoder.select(_decode(spark, decoder, [frame(version, value)]))

    assert rows.select("event.*").columns == ["a"]


def _versions(maker, count):
    """Give versions that grew out of each other, as far as they do not contradict."""
    schemas = [maker.record()]
    while len(schemas) < count:
        parent = maker.rng.choice(schemas)
        schema = evolve(parent, maker, maker.rng.choice(sorted(COMPATIBLE)))
        try:
            merge_schemas([*schemas, schema])
        except SchemaConflictError:
            continue
        schemas.append(schema)
    return [make_version(at + 1, schema) for at, schema in enumerate(schemas)]


def test_random_versions_decode_as_each_by_itself(spark, seeded, trials):
    outcomes = Counter()
    for _ in range(trials(4, 200)):
        maker = Maker(seeded)
        versions = _versions(maker, 5)
        pairs = [(each, maker.value(each.schema)) for each in versions for _ in range(4)]
        decoder = Decoder(spark, versions)
        decoded = _decode(spark, decoder, [frame(*pair) for pair in pairs])
        rows = {row["_offset"]: row for row in decoder.select(decoded).collect()}
        for offset, (version, value) in enumerate(pairs):
            payload = encode(value, version.schema)
            try:
                expected = decode(payload, version.schema, decoder.schema)
            except LossyWideningError:
                assert offset not in rows
                outcomes["lossy"] += 1
                continue
            wanted = as_spark_gives(expected, decoder.schema)
            found = fill_members(_plain(rows[offset]["event"]), decoder.schema)
            assert _bits(found) == _bits(wanted), (version.schema, decoder.schema, payload)
            outcomes["equal"] += 1
    assert outcomes["equal"] >= 0.8 * outcomes.total(), outcomes


def _plain(value):
    """Turn rows inside a value into dictionaries."""
    if hasattr(value, "asDict"):
        return {key: _plain(item) for key, item in value.asDict().items()}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return bytes(value) if isinstance(value, bytearray) else value
