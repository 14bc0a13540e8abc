"""Versions of schemas, and records as Spark's Kafka source gives them."""

from __future__ import annotations

from datetime import UTC, datetime

from penstock.framing import FrameKind, Framing, SchemaKey, encode_glue_frame
from penstock.registry import SchemaVersion, VersionStatus
from penstock.schemas import encode
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from penstock.spark.decoding.plans import expand_references
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


def make_decoded(spark, version, *values, first=0, columns=None, **options):
    """Return the rows of records of one version, as sinks receive them."""
    decoder = Decoder(spark, [version], columns)
    topic = make_topic(spark, [frame(version, each, **options) for each in values], "t", first)
    return decoder.select(decoder.decode(split_frames(topic, GLUE)))


def as_spark_gives(value, schema):
    """Write a value of a schema as Spark's rows hold it: a union of several types is a struct.

    A branch that merges types of several names has a member for each, and the value is in all.
    """
    return _give(value, expand_references(schema), _choose)


def fill_members(row, schema):
    """Copy the value of a merged branch, which is in the member of its writer, to all of them."""
    return _give(row, expand_references(schema), _find_value)


def _give(value, schema, choose):
    if isinstance(schema, list):
        branches = [branch for branch in schema if branch != "null"]
        return None if value is None else _give_branch(value, branches, choose)
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind == "record":
        fields = {each["name"]: each["type"] for each in schema["fields"]}
        return {name: _give(value[name], type_, choose) for name, type_ in fields.items()}
    if kind == "array":
        return [_give(item, schema["items"], choose) for item in value]
    if kind == "map":
        return {key: _give(item, schema["values"], choose) for key, item in value.items()}
    return value


def _give_branch(value, branches, choose):
    if len(branches) == 1:
        return _give(value, branches[0], choose)
    chosen, held = choose(value, branches)
    return {
        name: _give(held, branches[at], choose) if at == chosen else None
        for name, at in list_members(branches).items()
    }


def _choose(value, branches):
    return [_takes(branch, value) for branch in branches].index(True), value


def _find_value(row, branches):
    members = list_members(branches)
    ((name, held),) = ((name, held) for name, held in row.items() if held is not None)
    return members[name], held


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
