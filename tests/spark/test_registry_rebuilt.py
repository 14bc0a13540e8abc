"""A registry that was deleted and built again: the job reads old records by the backup."""

from __future__ import annotations

import secrets
from dataclasses import replace

import pytest

from penstock.extensions.registry_copy.backups import export_schemas, import_schemas
from penstock.registry import RegistrySettings, load_registry
from penstock.spark import start_consuming
from systems.sessions import REGION
from tests.fixtures.backups import ACCOUNT
from tests.spark.consuming import DEVICE, SECONDS, TIME, make_reading
from tests.spark.records import make_record

_V1 = make_record(DEVICE, TIME)
_V2 = make_record(DEVICE, ("temperature", ["null", "long"]), TIME)
_V3 = make_record(DEVICE, ("humidity", ["null", "long"]), ("temperature", ["null", "long"]), TIME)


@pytest.fixture
def registry_url(cloud, client, act_as):
    """An empty registry of its own."""
    name = f"plant-{secrets.token_hex(4)}"
    client("glue").create_registry(RegistryName=name)
    act_as(ACCOUNT)
    yield f"glue://{name}?endpoint={cloud.endpoint}&region={REGION}"
    client("glue").delete_registry(RegistryId={"RegistryName": name})


def test_a_topic_with_old_and_new_ids_is_read_whole(job, client, registry_url, tmp_path):
    old = load_registry(registry_url)
    v1, v2 = (old.register("sensor", schema).version for schema in (_V1, _V2))
    job.send(make_reading(v1, "a"), make_reading(v2, "b", 20))
    export_schemas(registry_url, f"{tmp_path}/registry.jsonl")

    name = registry_url.removeprefix("glue://").partition("?")[0]
    client("glue").delete_registry(RegistryId={"RegistryName": name})
    client("glue").create_registry(RegistryName=name)
    list(import_schemas(registry_url, f"{tmp_path}/registry.jsonl"))
    new = load_registry(registry_url)
    n2, n3 = (new.register("sensor", schema).version for schema in (_V2, _V3))
    job.send(make_reading(n2, "c", 21), make_reading(n3, "d", 22), make_reading(v1, "e"))
    schemas = RegistrySettings(registry_url, (f"{tmp_path}/registry.jsonl",))
    settings = replace(job.settings, schemas=schemas)
    query = start_consuming(job.spark, settings, errors=job.errors)
    assert query.awaitTermination(SECONDS)

    keys = [str(each.key) for each in (v1, v2, n2, n3, v1)]
    assert job.query("deviceId, temperature, _schema_version, _schema_id") == [
        ("a", None, 1, keys[0]),
        ("b", 20, 2, keys[1]),
        ("c", 21, 2, keys[2]),
        ("d", 22, 3, keys[3]),
        ("e", None, 1, keys[4]),
    ]
    assert len(set(keys)) == 4
    assert job.errors.reasons() == {}
