"""Frames that executors keep by schema are those of the batch, each once, as they came."""

from __future__ import annotations

import pytest

from penstock.framing import SchemaKey, encode_glue_frame
from penstock.spark.decoding.frames import split_frames
from penstock.spark.decoding.kept_frames import keep_frames
from tests.spark.records import GLUE, make_record, make_topic, make_version

_VERSIONS = [make_version(at, make_record(("deviceId", "string"))) for at in (1, 2, 3)]
_ONE, _TWO, _NONE = (each.key for each in _VERSIONS)
_VALUES = [
    *(encode_glue_frame(key, b"x" * at) for at, key in enumerate((_ONE, _TWO, _ONE, _ONE, _TWO))),
    None, b"?", b"\3\0cut", encode_glue_frame(_TWO, b"x" * 300, compress=True), b"",
]  # fmt: skip


def _rows(frames):
    return [row.asDict() for row in frames.collect()]


def test_tables_read_the_frames_of_their_schemas_as_they_were_split(spark):
    frames = split_frames(make_topic(spark, _VALUES), GLUE)
    expected = {row["offset"]: row for row in _rows(frames)}

    with keep_frames(frames, [_ONE, _TWO, _NONE]) as kept:
        one, two = (_rows(kept.read(spark, [key])) for key in (_ONE, _TWO))
        others = _rows(kept.read(spark, [_ONE, _TWO], others=True))
        both = _rows(kept.read(spark, [_TWO, _ONE]))
        none = _rows(kept.read(spark, [_NONE]))
        all_ = _rows(kept.read(spark, [], others=True))

    assert (kept.total, kept.of_key) == (10, {_ONE: 3, _TWO: 3, _NONE: 0})
    assert [row["offset"] for row in one] == [0, 2, 3]
    assert [row["offset"] for row in two] == [1, 4, 8]
    assert {row["offset"] for row in others} == {5, 6, 7, 9}
    assert none == []
    for found, many in ((one + two + others, 10), (both, 6), (all_, 10)):
        assert len(found) == many
        assert {row["offset"]: row for row in found}.items() <= expected.items()


@pytest.mark.parametrize(("keys", "size"), [(3, 70_000), (3_000, 10_000)])
def test_chunks_are_closed_when_they_are_large_and_when_there_are_many(spark, keys, size):
    many = [SchemaKey(_ONE.kind, at.to_bytes(16)) for at in range(keys)]
    values = [encode_glue_frame(many[at % keys], bytes(size)) for at in range(max(keys, 30))]
    frames = split_frames(make_topic(spark, values).coalesce(1), GLUE)

    with keep_frames(frames, many[:1]) as kept:
        found = [row.offset for row in kept.read(spark, many[:1]).select("offset").collect()]
        rest = kept.read(spark, many[:1], others=True).select("offset").distinct().count()

    assert kept.total == len(values)
    assert found == [at for at in range(len(values)) if at % keys == 0]
    assert rest == len(values) - len(found) == kept.total - kept.of_key[many[0]]


def test_frames_are_freed_in_the_end(spark):
    frames = split_frames(make_topic(spark, _VALUES), GLUE)
    persisted = spark.sparkContext._jsc.getPersistentRDDs
    before = len(persisted())

    with keep_frames(frames, []) as kept:
        assert len(persisted()) == before + 1

    assert (kept.total, len(persisted())) == (10, before)
