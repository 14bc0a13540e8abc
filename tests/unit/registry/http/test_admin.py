"""A registry with Confluent's API is read whole, by as many calls as it has versions and three."""

from __future__ import annotations

import pytest

from penstock.errors import RegistryError, SchemaNotFoundError, SchemaRefusedError
from penstock.framing import SchemaKey
from penstock.registry import (
    BackupRegistry,
    ConfluentRegistry,
    HttpRegistrySettings,
    RegistryBackup,
)
from penstock.registry.confluent_admin import ConfluentAdmin
from penstock.registry.overlay import OverlayRegistry
from penstock.schemas import Compatibility
from tests.unit.registry.http.conftest import FakeServer

_NOTHING = (404, '{"error_code": 40401, "message": "none."}')


@pytest.fixture
def admin(server: FakeServer) -> ConfluentAdmin:
    server.answers["GET /subjects?deleted=true"] = ["b-value", "a-key", "a-value"]
    server.answers["GET /config/a-value?defaultToGlobal=true"] = {
        "compatibilityLevel": "FORWARD_TRANSITIVE"
    }
    return ConfluentAdmin(HttpRegistrySettings("confluent+http", server.host, allow=("a", ":*")))


def _list(server: FakeServer, live: list[int], deleted: list[int]) -> None:
    server.answers["GET /subjects/a-value/versions"] = live or _NOTHING
    server.answers["GET /subjects/a-value/versions?deleted=true"] = live + deleted


def test_allowed_schemas_are_listed(admin: ConfluentAdmin) -> None:
    assert admin.list_names() == [":a-key", "a"]


def test_a_schema_is_read_with_deleted_versions(admin: ConfluentAdmin, server: FakeServer) -> None:
    for number in (1, 2, 3):
        server.put("a-value", number, number + 6, "int")
    _list(server, [2], [1, 3])

    schema = admin.read_schema("a")

    assert [(each.number, each.id, each.status.value) for each in schema.versions] == [
        (1, "confluent:7", "DELETING"), (2, "confluent:8", "AVAILABLE"),
        (3, "confluent:9", "DELETING"),
    ]  # fmt: skip
    assert (schema.compatibility, schema.checkpoint) == (Compatibility.FORWARD_ALL, 0)
    assert len(server.calls) == 3 + 3


def test_a_version_has_the_guid_that_the_registry_tells(
    admin: ConfluentAdmin, server: FakeServer
) -> None:
    guid = "d334a191-233e-4e1b-a127-dc1eb333de27"
    server.put("a-value", 1, 7, "int")
    server.put("a-value", 2, 8, "long", guid=guid)
    _list(server, [1, 2], [])

    assert [each.keys for each in admin.read_schema("a").versions] == [
        ("confluent:7",), ("confluent:8", f"confluent:{guid}"),
    ]  # fmt: skip


def test_a_schema_whose_versions_are_all_deleted_is_read(
    admin: ConfluentAdmin, server: FakeServer
) -> None:
    server.put("a-value", 1, 7, "int")
    _list(server, [], [1])

    assert [each.status.value for each in admin.read_schema("a").versions] == ["DELETING"]


def test_a_schema_that_is_gone_is_not_found(admin: ConfluentAdmin, server: FakeServer) -> None:
    _list(server, [], [])

    with pytest.raises(SchemaNotFoundError, match=r"schema a is not found in confluent.http"):
        admin.read_schema("a")


def test_references_that_cannot_be_replaced_are_refused(
    admin: ConfluentAdmin, server: FakeServer
) -> None:
    references = [{"name": "x.proto", "subject": "x", "version": 1}]
    server.put("a-value", 1, 7, "message A {}", schemaType="PROTOBUF", references=references)
    _list(server, [1], [])

    with pytest.raises(RegistryError, match="version 1 of schema a is PROTOBUF with references to"):
        admin.read_schema("a")


def test_a_subject_that_takes_an_id_after_the_export_is_read(
    admin: ConfluentAdmin, registry: ConfluentRegistry, server: FakeServer
) -> None:
    server.put("a-value", 1, 7, "int")
    server.put("a-value", 2, 8, "long")
    _list(server, [1, 2], [])
    backup = RegistryBackup("old", admin.kind, (admin.read_schema("a"),))
    server.put("Another-value", 1, 7, "int")
    server.answers["GET /schemas/ids/8/versions?deleted=true"] = []
    server.put("Another-value", 2, 8, "double")
    overlay = OverlayRegistry(registry, [BackupRegistry(backup, "b.jsonl")])

    found = overlay.get(SchemaKey.parse("confluent:7"))

    assert (found.name, found.number, found.schema) == ("Another", 1, "int")
    with pytest.raises(
        SchemaRefusedError, match=r"8 is version 2 of Another in .*b.jsonl version 2 of a with"
    ):
        overlay.get(SchemaKey.parse("confluent:8"))
