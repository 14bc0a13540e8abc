"""AWS's own serialiser for Java, unchanged, against localcloud, and Penstock on the other side."""

from __future__ import annotations

import json

import pytest

from penstock.aws import AwsClient, Service
from penstock.framing import decode_frame, encode_glue_frame
from penstock.registry import GlueRegistry, GlueSettings
from penstock.schemas import decode, encode, merge_schemas
from systems.java import JavaError
from systems.sessions import make_session
from tests.registries.glue_serde import JavaSerde

pytestmark = pytest.mark.java

_ACCOUNT = "920000000001"
_FIELDS = [
    {"name": "id", "type": "string"},
    {"name": "t", "type": ["null", "double"], "default": None},
    {"name": "n", "type": ["null", "long"], "default": None},
]
_V1, _V2, _V3 = (
    {"type": "record", "name": "Reading", "fields": _FIELDS[:count]} for count in (1, 2, 3)
)


@pytest.fixture(scope="module")
def glue(client):
    glue = client("glue", account=_ACCOUNT)
    glue.create_registry(RegistryName="plant")
    return glue


@pytest.fixture(scope="module")
def java(cloud, glue):
    with JavaSerde(cloud.endpoint, _ACCOUNT) as serde:
        yield serde


@pytest.fixture
def registry(cloud, glue):
    client = AwsClient(Service.GLUE, make_session(_ACCOUNT), endpoint=cloud.endpoint)
    return GlueRegistry(GlueSettings("plant"), client)


def _read(registry, frame, reader=None):
    """Decode a frame as Penstock's consumers do."""
    opened = decode_frame(frame)
    return decode(opened.payload, registry.get(opened.key).schema, reader)


@pytest.mark.parametrize("compression", ["NONE", "ZLIB"])
def test_records_written_by_java_are_read(java, registry, compression):
    topic = f"from-java-{compression}"
    value = {"id": "ä" * 200, "t": {"double": 21.5}}

    frame = java.serialize(topic, json.dumps(_V2), value, compression=compression)

    assert frame[:2] == (b"\x03\x05" if compression == "ZLIB" else b"\x03\x00")
    assert _read(registry, frame) == {"id": "ä" * 200, "t": 21.5}
    assert [each.schema for each in registry.versions(topic)] == [_V2]


@pytest.mark.parametrize("compress", [False, True])
def test_java_reads_records_written_here(java, registry, compress):
    topic = f"to-java-{compress}"
    version = registry.register(topic, _V2).version
    value = {"id": "ä" * 200, "t": 21.5}

    frame = encode_glue_frame(version.key, encode(value, _V2), compress)

    assert frame[1] == (5 if compress else 0)
    assert java.deserialize(topic, frame) == value


def test_a_schema_that_grows_is_read_on_both_sides(java, registry):
    topic, frames = "grows", []
    frames.append(java.serialize(topic, json.dumps(_V1), {"id": "a"}))
    second = registry.register(topic, _V2).version
    frames.append(encode_glue_frame(second.key, encode({"id": "b", "t": 1.5}, _V2)))
    third = {"id": "c", "t": None, "n": {"long": 7}}
    frames.append(java.serialize(topic, json.dumps(_V3), third))

    versions = registry.versions(topic)
    merged = merge_schemas([each.schema for each in versions])

    assert [each.number for each in versions] == [1, 2, 3]
    assert [_read(registry, frame, merged) for frame in frames] == [
        {"id": "a", "t": None, "n": None},
        {"id": "b", "t": 1.5, "n": None},
        {"id": "c", "t": None, "n": 7},
    ]
    assert [java.deserialize(topic, frame) for frame in frames] == [
        {"id": "a"},
        {"id": "b", "t": 1.5},
        {"id": "c", "t": None, "n": 7},
    ]


def test_java_finds_a_registered_schema(java, registry):
    version = registry.register("known", _V1).version
    text = json.dumps(_V1, separators=(",", ":"))

    frame = java.serialize("known", text, {"id": "a"}, schemaAutoRegistrationEnabled=False)

    assert decode_frame(frame).key == version.key
    with pytest.raises(JavaError, match="Auto registration of schema is not enabled"):
        java.serialize("known", json.dumps(_V2), {"id": "a", "t": None}, **_NOT)


_NOT = {"schemaAutoRegistrationEnabled": False}


def test_java_is_refused_an_incompatible_schema(java, registry):
    java.serialize("held", json.dumps(_V1), {"id": "a"})
    other = {"type": "record", "name": "Reading", "fields": [{"name": "id", "type": "long"}]}

    with pytest.raises(JavaError, match="Schema evolution check failed"):
        java.serialize("held", json.dumps(other), {"id": 1})

    assert [each.schema for each in registry.versions("held")] == [_V1]
