"""Versions of schemas, and records as Spark's Kafka source gives them."""

from __future__ import annotations

from datetime import UTC, datetime

from penstock.framing import FrameKind, Framing, SchemaKey, encode_glue_frame
from penstock.registry import SchemaVersion, VersionStatus
from penstock.schemas import encode
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from penstock.spark.decoding.plans import write_out
from penstock.tables import list_members

GLUE = Framing(frozenset({FrameKind.GLUE}))
KAFKA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp,"
    " headers array<struct<key: string, value: binary>>"
)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def make_version(number, schema, name="sensor"):
    """Make a version whose id says its number."""
    key = SchemaKey(FrameKind.GLUE, (number + (sum(name.encode()) << 64)).to_bytes(16))
    return SchemaVersion(key, name, number, VersionStatus.AVAILABLE, schema, None)


def make_record(*fields, name="Reading"):
    """Make the schema of a record with these fields, each a name and a type; null is a default."""
    return {"type": "record", "name": name, "fields": [_field(*each) for each in fields]}


def _field(name, type_):
    optional = isinstance(type_, list) and type_[0] == "null"
    return {"name": name, "type": type_} | ({"default": None} if optional else {})


def frame(version, value, **options):
    """Encode a value as a producer does."""
    return encode_glue_frame(version.key, encode(value, version.schema), **options)


def make_topic(spark, values, topic="readings", first=0):
    """Put values into partition 0 of a topic, in their order."""
    rows = [(b"k", value, topic, 0, at, NOON, None) for at, value in enumerate(values, first)]
    return spark.createDataFrame(rows, KAFKA)


def make_decoded(spark, version, *values, first=0, **options):
    """Return the rows of records of one version, as sinks receive them."""
    decoder = Decoder(spark, [version])
    topic = make_topic(spark, [frame(version, each, **options) for each in values], "t", first)
    return decoder.select(decoder.decode(split_frames(topic, GLUE)))


def as_spark_gives(value, schema):
    """Write a value of a schema as Spark's rows hold it: a union of several types is a struct."""
    return _give(value, write_out(schema))


def _give(value, schema):
    if isinstance(schema, list):
        return _give_branch(value, [branch for branch in schema if branch != "null"])
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind == "record":
        return {each["name"]: _give(value[each["name"]], each["type"]) for each in schema["fields"]}
    if kind == "array":
        return [_give(item, schema["items"]) for item in value]
    if kind == "map":
        return {key: _give(item, schema["values"]) for key, item in value.items()}
    return value


def _give_branch(value, branches):
    if value is None or len(branches) == 1:
        return None if value is None else _give(value, branches[0])
    chosen = [_takes(branch, value) for branch in branches].index(True)
    return {
        name: _give(value, branches[at]) if at == chosen else None
        for name, at in list_members(branches).items()
    }


def _takes(branch, value):
    kind = branch if isinstance(branch, str) else branch["type"]
    kinds = {
        bool: {"boolean"}, int: {"int", "long"}, float: {"float", "double"}, list: {"array"},
        str: {"string", "enum"}, bytes: {"bytes", "fixed"},
    }  # fmt: skip
    if isinstance(value, dict):
        names = {each["name"] for each in branch["fields"]} if kind == "record" else None
        return kind == "map" or names == set(value)
    return kind in kinds[type(value)]
