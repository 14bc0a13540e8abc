"""Confluent's own serialisers and ours write what the other reads, over one real registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from penstock.errors import SchemaForbiddenError
from penstock.framing import SchemaKey, encode_frame
from penstock.registry import Registries, VersionStatus, load_registries, load_registry
from penstock.schemas import canonical_form, decode, encode
from tests.fixtures.apicurio import Apicurio
from tests.stubs.registries import Reading, read_value

pytestmark = pytest.mark.java

_VALUE = SerializationContext("readings", MessageField.VALUE)
_KEY = SerializationContext("readings", MessageField.KEY)


@pytest.fixture
def client(apicurio: Apicurio) -> Iterator[SchemaRegistryClient]:
    client = SchemaRegistryClient({"url": f"{apicurio.url}/apis/ccompat/v7"})
    yield client
    client._rest_client.session.close()  # it has no method for that


def test_we_read_what_confluents_serialiser_writes(
    apicurio: Apicurio, client: SchemaRegistryClient, reading: Reading
) -> None:
    first = {"deviceId": "a"}
    second = {"deviceId": "b", "temperature": 21}
    values = [
        AvroSerializer(client, json.dumps(schema, indent=2))(event, _VALUE)
        for schema, event in ((reading(), first), (reading(temperature="long"), second))
    ]
    registries = load_registries(apicurio.confluent_url)

    assert [read_value(registries, value) for value in values] == [
        ("readings", 1, first),
        ("readings", 2, second),
    ]


def test_confluents_deserialiser_reads_what_we_write(
    apicurio: Apicurio, client: SchemaRegistryClient, reading: Reading
) -> None:
    schema, event = reading(temperature="long"), {"deviceId": "a", "temperature": 21}
    version = load_registry(apicurio.confluent_url).register("readings", schema).version

    value = encode_frame(version.key, encode(event, version.schema))

    assert AvroDeserializer(client)(value, _VALUE) == event
    use_ours = AvroSerializer(
        client, None, conf={"auto.register.schemas": False, "use.latest.version": True}
    )
    assert use_ours(event, _VALUE) == value


def test_each_naming_of_subjects_is_read(
    apicurio: Apicurio, client: SchemaRegistryClient, reading: Reading
) -> None:
    event = {"deviceId": "a"}

    def write(schema: Any, strategy: Any) -> bytes:
        conf = {"subject.name.strategy": strategy}
        return AvroSerializer(client, json.dumps(schema), conf=conf)(event, _VALUE)

    value = write(reading(), record_subject_name_strategy)
    of_topic = write(reading(temperature="long"), topic_record_subject_name_strategy)
    key = AvroSerializer(client, '"string"')("k", _KEY)

    def read(options: str, value: bytes) -> tuple[str, int, Any]:
        return read_value(load_registries(f"{apicurio.confluent_url}{options}"), value)

    assert read("?naming=record", value) == ("Reading", 1, event)
    more = event | {"temperature": None}
    assert read("?naming=topic-record&topic=readings", of_topic) == ("Reading", 1, more)
    assert read("", value) == (":Reading", 1, event)
    assert read("", of_topic) == (":readings-Reading", 1, more)
    assert read("", key) == (":readings-key", 1, "k")
    with pytest.raises(SchemaForbiddenError, match="belongs to confluent/:Reading"):
        read("?allow=orders", value)


@pytest.mark.parametrize("api", ["confluent", "apicurio"])
def test_types_of_other_subjects_are_read(
    apicurio: Apicurio, client: SchemaRegistryClient, api: str
) -> None:
    unit = {"type": "enum", "name": "x.Unit", "symbols": ["C", "F"]}
    value = {"type": "record", "name": "x.Value", "fields": [{"name": "unit", "type": "x.Unit"}]}
    main = {"type": "record", "name": "Reading", "fields": [{"name": "a", "type": "x.Value"}]}
    to_unit = SchemaReference("x.Unit", "unit", 1)
    client.register_schema("unit", Schema(json.dumps(unit), "AVRO"))
    client.register_schema("value", Schema(json.dumps(value), "AVRO", [to_unit]))
    to_value = SchemaReference("x.Value", "value", 1)
    client.register_schema("readings-value", Schema(json.dumps(main), "AVRO", [to_value]))
    url = apicurio.confluent_url if api == "confluent" else apicurio.own_url

    (version,) = load_registry(url).versions("readings")

    inlined = {**value, "fields": [{"name": "unit", "type": unit}]}
    event = {"a": {"unit": "F"}}
    assert decode(encode(event, version.schema), version.schema) == event
    assert load_registry(url).get(version.key) == version
    whole = {**main, "fields": [{"name": "a", "type": inlined}]}
    assert canonical_form(version.schema) == canonical_form(whole)


def test_a_version_that_was_deleted_is_still_read(
    apicurio: Apicurio, client: SchemaRegistryClient, reading: Reading
) -> None:
    event = {"deviceId": "a"}
    value = AvroSerializer(client, json.dumps(reading()))(event, _VALUE)
    AvroSerializer(client, json.dumps(reading(temperature="long")))(event, _VALUE)
    client.delete_version("readings-value", 1)
    registry = load_registry(apicurio.confluent_url)

    assert read_value(Registries([registry]), value) == ("readings", 1, event)
    assert [each.number for each in registry.versions("readings")] == [2]
    assert registry.get(SchemaKey.parse(_id_of(value))).status is VersionStatus.DELETING


def _id_of(value: bytes) -> str:
    return f"confluent:{int.from_bytes(value[1:5])}"


def test_a_version_that_is_incompatible_for_the_registry_is_refused_by_both(
    apicurio: Apicurio, client: SchemaRegistryClient, reading: Reading
) -> None:
    registry = load_registry(f"{apicurio.confluent_url}?compatibility=FULL_ALL")
    registry.register("readings", reading(temperature="long"))

    assert client.get_compatibility("readings-value") == "FULL_TRANSITIVE"
    assert not client.test_compatibility(
        "readings-value", Schema(json.dumps(reading(temperature="string")), "AVRO")
    )
