"""All versions in one expression are read as Spark reads each of them by an expression of its own.

Spark by itself is judged too: what it makes of a record without logical types is what fastavro
makes of it.
"""

from __future__ import annotations

import io
import json
from functools import reduce

import fastavro
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from penstock.schemas import compile_event_decoder, encode, merge_schemas
from penstock.spark.columns import read_columns
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from penstock.spark.rows import event_type
from penstock.tables import Struct, merge_columns, read_event
from tests.spark.records import GLUE, as_spark_gives, frame, make_record, make_topic, make_version

pytestmark = pytest.mark.usefixtures("compiled")

_ONE = {"type": "enum", "name": "one.E", "symbols": ["A", "B", "C"]}
_OTHER_ONE = {"type": "enum", "name": "one.E", "symbols": ["C", "B", "D", "A"]}
_TWO = {"type": "enum", "name": "two.E", "symbols": ["B", "X"]}
_FIXED = {"type": "fixed", "name": "one.F", "size": 2}
_INNER = make_record(("e", "one.E"), ("n", "int"), name="one.Inner")
_OTHER = make_record(("s", "string"), name="one.Other")


def _array(items):
    return {"type": "array", "items": items}


def _map(values):
    return {"type": "map", "values": values}


def _logical(type_, name, **more):
    return {"type": type_, "logicalType": name, **more}


_MONEY = {"type": "fixed", "name": "M", "size": 4, "logicalType": "decimal", "precision": 9}
_MEMBERS = {
    **dict.fromkeys(("member_long", "member_double"), "member_number"),
    **{f"member_{name}": f"member_one_{name}" for name in ("E", "Inner", "Other")},
}
_UNITS = ("millis", "micros", "nanos")
_UUID = "d3e21a3b-f828-4f0c-9f3e-0b1f9a1c2d3e"
_CASES = {
    "enums of one name in two namespaces, with symbols in another order": [
        (make_record(("a", _ONE), ("b", _TWO)), {"a": "C", "b": "B"}),
        (make_record(("b", _TWO), ("a", ["null", _OTHER_ONE])), {"a": "C", "b": "X"}),
        (make_record(("a", {**_TWO, "symbols": ["D", "B"]}), ("b", _ONE)), {"a": "D", "b": "A"}),
    ],
    "a type used twice, in arrays, maps and records": [
        (
            make_record(("a", _array(_ONE)), ("b", _map(_INNER)), ("c", _FIXED)),
            {"a": ["A", "C"], "b": {"k": {"e": "B", "n": 1}}, "c": b"xy"},
        ),
        (
            make_record(("c", ["null", _FIXED]), ("a", _array(["null", _OTHER_ONE]))),
            {"a": ["A", None, "D"], "c": b"ab"},
        ),
        (
            make_record(("d", _array(_array(_FIXED))), ("b", _map(["null", {**_INNER, "fields": [
                {"name": "n", "type": "long"}, {"name": "e", "type": _OTHER_ONE}]}]))),
            {"d": [[b"zz"], []], "b": {"k": {"n": 2, "e": "D"}, "l": None}},
        ),
    ],
    "unions of several types, in another order": [
        (make_record(("u", ["null", _ONE, _INNER, _OTHER])), {"u": {"s": "x"}}),
        (make_record(("u", [_OTHER, "int", {**_INNER, "fields": [
            {"name": "e", "type": _ONE}, {"name": "n", "type": "long"}]}])), {"u": 3}),
        (make_record(("u", ["null", _ONE, _INNER, _OTHER, "double"])), {"u": {"e": "B", "n": 5}}),
        (make_record(("u", ["long", _OTHER])), {"u": 2**40}),
    ],
    "whole numbers beside doubles, wherever they are": [
        (
            make_record(("a", _array("long")), ("b", _map(_array("int"))),
                        ("c", ["string", "long"]), ("d", make_record(("x", "long"), name="D")),
                        ("e", "float")),
            {"a": [1, 2**53], "b": {"k": [3]}, "c": 4, "d": {"x": 5}, "e": 0.5},
        ),
        (
            make_record(("a", _array("double")), ("b", _map(_array("long"))),
                        ("c", ["double", "string"]),
                        ("d", make_record(("x", ["null", "double"]), name="D")), ("e", "int")),
            {"a": [1.5], "b": {"k": [2**53 - 1]}, "c": 4.5, "d": {"x": None}, "e": 2**31 - 1},
        ),
        (
            make_record(("a", _array(["null", "double"])), ("b", _map(_array("double"))),
                        ("e", "double")),
            {"a": [1.5, None], "b": {"k": [0.1]}, "e": -0.0},
        ),
    ],
}  # fmt: skip
_LOGICAL = make_record(
    ("bytes", _logical("bytes", "decimal", precision=9, scale=2)),
    ("fixed", _MONEY),
    ("date", _logical("int", "date")),
    ("millis", _logical("long", "timestamp-millis")),
    ("micros", _logical("long", "timestamp-micros")),
    ("local", _logical("long", "local-timestamp-millis")),
    ("time", _logical("int", "time-millis")),
    ("uuid", _logical("string", "uuid")),
)
_NAMES = [
    *(f"{prefix}timestamp-{unit}" for prefix in ("", "local-") for unit in _UNITS),
    *("date", "time-millis", "time-micros", "uuid", "duration", "decimal", "none"),
]
_SAMPLES = {"int": 5, "long": 7, "float": 0.5, "double": 2.5, "string": _UUID, "bytes": b"xyz"}
# Avro ignores a logical type where its kind is another one.
_EVERYWHERE = make_record(
    *(
        (f"{kind}_{name.replace('-', '_')}", _logical(kind, name))
        for kind in _SAMPLES
        for name in _NAMES
    )
)
_EVERYWHERE_VALUE = {
    each["name"]: _SAMPLES[each["name"].partition("_")[0]] for each in _EVERYWHERE["fields"]
}
_MILLIS = "timestamp-millis"
_LOGICAL_CASES = {
    "ignored logical types": [(_EVERYWHERE, _EVERYWHERE_VALUE)],
    "ignored logical types that widen": [
        (make_record(("a", _logical("double", _MILLIS)), ("b", _logical("int", _MILLIS))),
         {"a": 5.5, "b": 1}),
        (make_record(("a", _logical("int", _MILLIS)), ("b", _logical("float", _MILLIS))),
         {"a": 7, "b": 0.5}),
    ],
}  # fmt: skip
_IN_1422 = -200_000
_LOGICAL_VALUE = {
    "bytes": b"\x01\xe2", "fixed": b"\0\0\x01\xe2", "date": _IN_1422, "millis": 1_795_234_015_788,
    "micros": -1, "local": 86_400_000, "time": 1, "uuid": _UUID,
}  # fmt: skip


def _written(cases):
    versions = [make_version(at, schema) for at, (schema, _) in enumerate(cases, 1)]
    return versions, [frame(each, case[1]) for each, case in zip(versions, cases, strict=True)]


def _by_itself(records: DataFrame, version, merged) -> DataFrame:
    """Read the records of one version by an expression of their own."""
    options = {"avroSchema": json.dumps(merged), "mode": "FAILFAST"}
    options["datetimeRebaseMode"] = "CORRECTED"
    options["enableStableIdentifiersForUnionType"] = "true"
    own = records.filter(F.col("schema") == F.lit(version.key.pack()))
    record = from_avro(F.col("payload"), json.dumps(version.schema), options)
    return own.select("offset", F.to_json(record, {"ignoreNullFields": "false"}).alias("json"))


@pytest.mark.parametrize("name", [*_CASES, *_LOGICAL_CASES, "logical types"])
def test_every_type_is_read_as_by_itself(spark, name):
    cases = (_CASES | _LOGICAL_CASES).get(name) or [
        (_LOGICAL, _LOGICAL_VALUE),
        ({**_LOGICAL, "fields": _LOGICAL["fields"][::-1]}, _LOGICAL_VALUE),
    ]
    versions, values = _written(cases)
    decoder = Decoder(spark, versions)
    records = split_frames(make_topic(spark, values), GLUE)

    rows = decoder.select(decoder.decode(records))
    assert _columns(rows) == merge_columns(Struct(), read_event(decoder.schema))
    event = F.to_json("event", {"ignoreNullFields": "false"})
    found = {row[0]: json.loads(row[1]) for row in rows.select("_offset", event).collect()}

    alone = reduce(
        DataFrame.union, [_by_itself(records, each, decoder.schema) for each in versions]
    )
    assert found == {
        row.offset: json.loads(row.json, object_pairs_hook=_name_members) for row in alone.collect()
    }
    assert len(found) == len(cases)


def _name_members(pairs):
    """Name the members of unions as we do: Spark leaves out namespaces."""
    return {_MEMBERS.get(name, name): value for name, value in pairs}


def _columns(rows: DataFrame) -> Struct:
    """Return the columns of a table that is made for these rows."""
    return merge_columns(Struct(), read_columns(event_type(rows)))


def test_columns_of_logical_types_are_known_without_spark(spark):
    fixed = {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}
    money = {"type": "fixed", "name": "V", "size": 2, "logicalType": "decimal"}
    odd = {
        "few": _logical("bytes", "decimal", precision=2, scale=9),
        "scaled": _logical("bytes", "decimal", precision=9, scale=9),
        "fixed": fixed,
        "most": {**money, "precision": 4},
        "beyond": {**money, "name": "W", "precision": 5},
        "empty": make_record(name="Empty"),
        "union": ["null", "string", make_record(name="Also"), "int"],
        "items": _array(["null", make_record(name="Item")]),
    }
    fields = [*_EVERYWHERE["fields"], *make_record(*odd.items())["fields"]]
    version = make_version(1, {**_EVERYWHERE, "fields": fields})
    decoder = Decoder(spark, [version])
    frames = split_frames(make_topic(spark, [b"none"]), GLUE)

    rows = decoder.select(decoder.decode(frames))  # nothing is read

    assert _columns(rows) == merge_columns(Struct(), read_event(decoder.schema))


@pytest.mark.parametrize("size", [0, 1, 17, 1_785, 1_786, 2**20])
def test_a_decimal_in_any_number_of_bytes_is_read_as_by_a_consumer(spark, size):
    money = {"type": "fixed", "name": "M", "size": size, "logicalType": "decimal", "precision": 2}
    version = make_version(1, make_record(("a", money)))
    values = [number.to_bytes(size, signed=True) for number in (-99, 7) if size] or [b""]
    decoder = Decoder(spark, [version])

    frames = split_frames(make_topic(spark, [frame(version, {"a": each}) for each in values]), GLUE)
    found = decoder.select(decoder.decode(frames)).select("event.a").collect()

    decode = compile_event_decoder(version.schema)
    assert [row.a for row in found] == [decode(each)["a"] for each in values]


# fastavro fails over references to a type that is an alias of another.
@pytest.mark.parametrize("name", list(_CASES)[1:])
def test_every_type_is_read_as_fastavro_reads_it(spark, name):
    versions, values = _written(_CASES[name])
    merged = merge_schemas([each.schema for each in versions])
    decoder = Decoder(spark, versions)

    rows = decoder.select(decoder.decode(split_frames(make_topic(spark, values), GLUE))).collect()

    found = {row["_offset"]: row["event"].asDict(recursive=True) for row in rows}
    assert found == {
        offset: as_spark_gives(_fastavro(version.schema, value, merged), merged)
        for offset, (version, (_, value)) in enumerate(zip(versions, _CASES[name], strict=True))
    }


def _fastavro(schema, value, merged):
    return fastavro.schemaless_reader(io.BytesIO(encode(value, schema)), schema, merged)
