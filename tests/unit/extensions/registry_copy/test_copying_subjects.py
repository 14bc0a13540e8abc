"""A copy from a registry with Confluent's API to Glue: what changes in it meanwhile, or is gone."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InvalidSchemaError, OperationError
from penstock.extensions.registry_copy.copying import CopiedSchema, CopySettings, copy_registry
from penstock.framing import SchemaKey
from penstock.registry import (
    BackupRegistry,
    SchemaBackup,
    StoredVersion,
    load_admin,
    load_backup,
)
from penstock.registry.glue_admin import GlueAdmin
from penstock.schemas import Compatibility
from systems.sessions import REGION
from tests.fixtures.accounts import ActAs
from tests.fixtures.backups import ACCOUNT
from tests.unit.registry.http.conftest import FakeServer, server

__all__ = ["server"]

_GONE = (404, '{"error_code": 40402, "message": "Version not found."}')


class Move:
    """Subjects of a registry that answers as a test says, and an empty Glue registry."""

    def __init__(self, server: FakeServer, glue: Any, folder: Path) -> None:
        self.server = server
        registry = f"new-{secrets.token_hex(4)}"
        glue.create_registry(RegistryName=registry)
        self.url = f"confluent+http://{server.host}"
        self.glue_url = f"glue://{registry}?region={REGION}"
        self.map_file = str(folder / "map.jsonl")
        server.answers["GET /config"] = {"compatibilityLevel": "NONE"}

    def put(self, name: str, *schemas: Any, deleted: bool = False, **more: Any) -> None:
        """Let the registry have a subject with these versions."""
        for number, schema in enumerate(schemas, 1):
            self.put_version(name, number, schema, **more)
        self.server.answers.setdefault("GET /subjects?deleted=true", []).append(f"{name}-value")
        if deleted:
            self.server.answers[f"GET /subjects/{name}-value/versions"] = _GONE

    def put_version(self, name: str, number: int, schema: Any, **more: Any) -> None:
        subject, answers = f"{name}-value", self.server.answers
        self.server.put(subject, number, len(answers), schema, **more)
        path = f"GET /subjects/{subject}/versions"
        answers[f"{path}?deleted=true"] = answers[path]

    def copy(self, **settings: Any) -> dict[str, CopiedSchema]:
        given = CopySettings(self.url, self.glue_url, self.map_file, **settings)
        return {each.name: each for each in copy_registry(given).schemas}


@pytest.fixture
def move(
    server: FakeServer,
    client: Callable[..., Any],
    tmp_path: Path,
    act_as: ActAs,
) -> Move:
    act_as(ACCOUNT)
    return Move(server, client("glue"), tmp_path)


_ORDER = {"type": "record", "name": "Order", "fields": [{"name": "unit", "type": "x.Unit"}]}
_TO_UNIT = {"name": "x.Unit", "subject": "unit", "version": 1}


def test_a_reference_that_is_gone_is_named_unless_no_program_gets_the_version(move: Move) -> None:
    move.put("a", _ORDER, references=[_TO_UNIT])
    move.put("b", _ORDER, references=[_TO_UNIT], deleted=True)
    move.put("c", "int")

    copied = move.copy()

    (problem,) = copied["a"].problems
    assert problem.startswith("version 1 of schema a has no definition that a reader could use")
    assert (copied["b"].action, copied["b"].problems) == ("leave-out", ())
    assert copied["c"].action == "create"
    kept = {each.name: each.versions for each in load_backup(move.map_file).schemas}
    assert [json.loads(kept[name][0].definition) for name in "ab"] == [_ORDER, _ORDER]
    assert load_admin(move.glue_url).list_names() == ["c"]


def test_a_schema_that_lost_a_version_meanwhile_is_named_and_one_that_is_gone_is_not(
    move: Move,
) -> None:
    for name in "abc":
        move.put(name, "int", "long")
    listed = move.server.answers["GET /subjects?deleted=true"]
    move.server.answers["GET /subjects?deleted=true"] = [
        (200, json.dumps(listed)), (200, json.dumps(["a-value", "c-value"])),
    ]  # fmt: skip
    for name in "ab":
        move.server.answers[f"GET /subjects/{name}-value/versions/1?deleted=true"] = _GONE

    copied = move.copy()

    assert list(copied) == ["a", "c"]
    assert copied["a"].action == "refuse"
    assert copied["a"].problems[0].endswith("with 404: Version not found")
    assert (copied["c"].action, copied["c"].problems) == ("create", ())


def test_a_schema_without_a_usable_version_leaves_the_one_that_is_there_as_it_is(
    move: Move,
) -> None:
    move.put("a", "int")
    move.put("b", "int")
    assert move.copy()["a"].action == "create"
    target = load_admin(move.glue_url)
    target.describe_schema("a", Compatibility.FULL_ALL, 1)
    before = target.read_schema("a")
    move.server.answers["GET /subjects/a-value/versions"] = _GONE

    (copied, _) = move.copy().values()

    assert (copied.action, copied.problems) == ("leave-out", ())
    assert target.read_schema("a") == before


def test_a_schema_of_two_data_formats_is_refused_and_the_map_reads_its_avro(move: Move) -> None:
    move.put("a", "int")
    move.put_version("a", 2, "message A {}", schemaType="PROTOBUF")

    (problem,) = move.copy()["a"].problems

    assert problem == (
        "version 1 of schema a is AVRO and a later one PROTOBUF, expected one data format in all "
        "versions of a schema"
    )
    old, _ = load_admin(move.url).read_schema("a").versions
    assert BackupRegistry(load_backup(move.map_file), "m").get(SchemaKey.parse(old.id)).number == 1
    assert move.copy()["a"].problems == (problem,)


def test_a_deleted_version_of_another_data_format_is_left_out(move: Move) -> None:
    move.put("a", "int")
    move.put_version("a", 2, "message A {}", schemaType="PROTOBUF")
    move.server.answers["GET /subjects/a-value/versions"] = [1]

    copied = move.copy()["a"]

    assert (copied.problems, [each.action for each in copied.versions]) == (
        (), ["register", "leave-out"],
    )  # fmt: skip


def test_a_map_that_no_consumer_could_read_is_not_written(move: Move) -> None:
    for name, schema in (("a", "int"), ("b", "long")):
        move.put(name, schema)
        move.server.answers[f"GET /subjects/{name}-value/versions/1?deleted=true"]["id"] = 7

    with pytest.raises(OperationError, match=r"map.jsonl, line 5: found id confluent:7 a second"):
        move.copy()

    assert not Path(move.map_file).exists()
    assert load_admin(move.glue_url).list_names() == []


def test_a_definition_that_a_registry_calls_invalid_concerns_its_schema_alone(
    move: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [{"name": f"x{at}", "subject": f"x{at}", "version": 1} for at in range(101)]
    for name in many:
        move.server.put(name["subject"], 1, 7, "int")
    move.put("a", "int", references=many)
    move.put("b", "int")
    move.put("c", "int", "long")
    plain = GlueAdmin.add_version

    def add(admin: GlueAdmin, schema: SchemaBackup, definition: str) -> StoredVersion:
        if definition == '"long"':
            raise InvalidSchemaError("invalid")
        return plain(admin, schema, definition)

    monkeypatch.setattr(GlueAdmin, "add_version", add)

    copied = move.copy()

    assert copied["a"].problems == ("a schema has more than 100 references",)
    assert copied["b"].problems == ()
    assert copied["c"].problems == (f"invalid; 1 of the 2 versions of c are in {move.glue_url}",)
    monkeypatch.setattr(GlueAdmin, "add_version", plain)
    assert move.copy()["c"].problems == ()
