"""Many who register at the same time."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from localcloud.services.glue.registry import registries
from localcloud.services.glue.registry.registries import add_registry
from tests.glue.definitions import FIRST, SECOND, avro


def _at_once(count, call):
    barrier = Barrier(count)

    def one(number):
        barrier.wait()
        return call(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_fifty_concurrent_registrations_of_one_definition_make_one_version(glue, schema):
    readings = schema()

    answers = _at_once(
        50, lambda _: glue.register_schema_version(SchemaId=readings, SchemaDefinition=SECOND)
    )

    assert {(each["VersionNumber"], each["Status"]) for each in answers} == {(2, "AVAILABLE")}
    assert len({each["SchemaVersionId"] for each in answers}) == 1
    assert len(glue.list_schema_versions(SchemaId=readings)["Schemas"]) == 2


def test_fifty_concurrent_definitions_get_consecutive_numbers(glue, schema):
    readings = schema(mode="FULL_ALL")

    answers = _at_once(
        50,
        lambda number: glue.register_schema_version(
            SchemaId=readings, SchemaDefinition=avro(id="string", **{f"f{number}": "long?"})
        ),
    )

    assert sorted(each["VersionNumber"] for each in answers) == list(range(2, 52))
    assert {each["Status"] for each in answers} == {"AVAILABLE"}
    assert len({each["SchemaVersionId"] for each in answers}) == 50


def test_fifty_concurrent_calls_create_one_schema(glue):
    def create(_):
        try:
            return glue.create_schema(
                RegistryId={"RegistryName": "plant"},
                SchemaName="readings",
                DataFormat="AVRO",
                SchemaDefinition=FIRST,
            )["SchemaVersionId"]
        except glue.exceptions.AlreadyExistsException:
            return None

    assert len([each for each in _at_once(50, create) if each]) == 1


def test_many_concurrent_calls_create_one_registry(glue, monkeypatch):
    def add_slowly(*arguments):
        """Leave time between the look at the name and its taking."""
        time.sleep(0.02)
        return add_registry(*arguments)

    def create(_):
        try:
            return glue.create_registry(RegistryName="depot")["RegistryArn"]
        except glue.exceptions.AlreadyExistsException:
            return None

    monkeypatch.setattr(registries, "add_registry", add_slowly)

    assert len([each for each in _at_once(8, create) if each]) == 1
