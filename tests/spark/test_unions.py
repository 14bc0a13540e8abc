"""Each branch of a union has its column, in any order of versions; fastavro is the judge."""

from __future__ import annotations

import io
import random

import fastavro
import pytest

from penstock.errors import SchemaConflictError
from penstock.framing import encode_glue_frame
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from tests.spark.lakes import part
from tests.spark.records import (
    GLUE,
    make_decoded,
    make_record,
    make_topic,
    make_version,
)
from tests.stubs.unions import BRANCHES, VALUES, encode_branch, make_event, make_named, unite

pytestmark = pytest.mark.usefixtures("compiled")

_COLUMNS = {
    "array": "member_array", "boolean": "member_boolean", "bytes": "member_bytes",
    "enum": "member_acme_State", "fixed": "member_Hash", "map": "member_map",
    "number": "member_number", "one": "member_acme_Reading", "other": "member_other_Reading",
    "plain": "member_Alarm", "string": "member_string",
}  # fmt: skip


def _version(number, names):
    return make_version(number, make_event(unite(*(BRANCHES[name] for name in names))))


def _frames(version, names):
    """Encode a value of each branch of a version."""
    return [
        encode_glue_frame(version.key, encode_branch(version.schema, at, VALUES[name]))
        for at, name in enumerate(names, 1)
    ]


def _judge(version, frame):
    """Return the name of the branch that fastavro finds, and the value."""
    payload = io.BytesIO(frame[18:])
    read = fastavro.schemaless_reader(payload, version.schema, return_named_type=True)["u"]
    if isinstance(read, tuple):
        return f"member_{read[0].replace('.', '_')}", read[1]
    kinds = {bool: "boolean", int: "number", str: "string", bytes: "bytes"}
    return f"member_{kinds.get(type(read)) or {list: 'array', dict: 'map'}[type(read)]}", read


def _decode(spark, versions, frames, first=0):
    decoder = Decoder(spark, versions)
    topic = make_topic(spark, frames, "t", first)
    return decoder.select(decoder.decode(split_frames(topic, GLUE)))


@pytest.mark.parametrize("seed", range(3))
def test_each_value_is_in_the_column_of_its_branch(spark, seed):
    rng = random.Random(seed)
    chosen = [rng.sample(sorted(BRANCHES), rng.randint(2, 7)) for _ in range(2)]
    every = sorted({"one", "other"}.union(*chosen))
    chosen.append(rng.sample(every, len(every)))
    versions = [_version(number, names) for number, names in enumerate(chosen, 1)]
    written = [
        (version, frame)
        for version, names in zip(versions, chosen, strict=True)
        for frame in _frames(version, names)
    ]
    judged = [_judge(version, frame) for version, frame in written]

    for order in (versions, versions[::-1]):
        rows = _decode(spark, order, [frame for _, frame in written]).orderBy("_offset").collect()
        found = [row.event.asDict(recursive=True)["u"] for row in rows]
        assert found == [
            {_COLUMNS[name]: value if _COLUMNS[name] == column else None for name in every}
            for column, value in judged
        ]


def test_a_branch_without_columns_is_a_value_without_members(spark):
    empty = make_record(name="Empty")
    version = make_version(1, make_record(("u", ["null", "string", "long", empty])))

    rows = make_decoded(spark, version, {"u": {}}, {"u": "x"}, {"u": None}).collect()

    assert [row.event.asDict(recursive=True)["u"] for row in rows] == [
        {"member_number": None, "member_string": None},
        {"member_number": None, "member_string": "x"},
        None,
    ]


_FIRST = ["one", "string"]
_SECOND = ["plain", "other", "boolean", "one", "string"]


@pytest.mark.parametrize("order", [[1, 2], [2, 1]])
def test_a_lake_has_each_branch_in_its_column_whichever_version_comes_first(spark, reader, order):
    names = {1: _FIRST, 2: _SECOND}
    known = []
    for batch, number in enumerate([*order, order[0]]):
        version = _version(number, names[number])
        known = [each for each in known if each.number != number] + [version]
        rows = _decode(spark, known, _frames(version, names[number]), 100 * batch + 10 * number)
        reader.lake.write(rows, part(batch, 0))

    columns = {
        "u.member_acme_Reading.of_Reading": {(1, 0): 5, (2, 3): 5},
        "u.member_other_Reading.of_Reading": {(2, 1): 6},
        "u.member_Alarm.of_Alarm": {(2, 0): 7},
        "u.member_boolean": {(2, 2): True},
        "u.member_string": {(1, 1): "text", (2, 4): "text"},
    }
    rows = [
        (batch, number, at)
        for batch, number in enumerate([*order, order[0]])
        for at in range(len(names[number]))
    ]
    assert reader.query(f"SELECT {', '.join(columns)} FROM t ORDER BY _offset") == [
        tuple(column.get((number, at)) for column in columns.values()) for _, number, at in rows
    ]
    held = next(each for each in reader.table().schema() if each.name == "u").dataType
    assert sorted(held.names) == sorted(_COLUMNS[name] for name in _SECOND)


@pytest.mark.parametrize(
    ("renamed", "found"),
    [
        (["u TO u_numbered"], ("old", None)),
        (["u.member0 TO member_R", "u.member1 TO member_string"], (None, "old")),
    ],
)
def test_a_lake_with_numbered_members_goes_on_after_a_rename(spark, reader, renamed, found):
    version = make_version(1, make_event(unite("string", make_named("R"))))
    frame = encode_glue_frame(version.key, encode_branch(version.schema, 1, "new"))
    rows = _decode(spark, [version], [frame], 1)
    kept = [name for name in rows.columns if name != "event"]
    reading = "CAST(NULL AS STRUCT<of_R: BIGINT>)"
    numbered = f"named_struct('u', named_struct('member0', {reading}, 'member1', 'old')) AS event"
    reader.lake.write(rows.selectExpr(numbered, *kept), part(0, 0))

    with pytest.raises(SchemaConflictError, match="whose members an earlier release numbered"):
        reader.lake.write(rows, part(1, 0))
    for each in renamed:
        spark.sql(f"ALTER TABLE {reader.name} RENAME COLUMN {each}")
    reader.again().write(rows, part(1, 0))

    old = "u_numbered.member1" if len(renamed) == 1 else "NULL"
    query = f"SELECT {old}, u.member_string FROM t ORDER BY u.member_string DESC NULLS FIRST"
    assert reader.query(query) == [found, (None, "new")]
