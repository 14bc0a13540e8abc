"""`penstock schema` backs up the schemas of a registry and restores them."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from localcloud.testing.policies import allow, make_role, trust
from penstock.cli import main
from penstock.framing import FrameKind
from penstock.registry import (
    RegistryBackup,
    SchemaBackup,
    StoredVersion,
    VersionStatus,
    write_backup,
)
from penstock.schemas import Compatibility
from tests.fixtures.accounts import ActAs
from tests.fixtures.backups import ACCOUNT, Run, bucket, run
from tests.fixtures.commands import read_json
from tests.stubs.terminal import Terminal

__all__ = ["bucket", "run"]

Client = Callable[..., Any]

# As the help of the commands and docs/operate/schemas.md have them.
_TO_EXPORT = ("ListSchemas", "GetSchema", "GetTags", "ListSchemaVersions", "GetSchemaVersion")
_TO_IMPORT = ("CreateSchema", "RegisterSchemaVersion", "UpdateSchema", "TagResource")


@pytest.fixture
def name(client: Client, bucket: str) -> str:
    """A registry with a schema of two versions, and the rights of its account."""
    name = f"plant-{secrets.token_hex(4)}"
    glue = client("glue")
    glue.create_registry(RegistryName=name)
    schema = {"RegistryName": name, "SchemaName": "pump"}
    glue.create_schema(
        RegistryId={"RegistryName": name},
        SchemaName="pump",
        DataFormat="AVRO",
        Compatibility="BACKWARD_ALL",
        SchemaDefinition='"int"',
    )
    glue.register_schema_version(SchemaId=schema, SchemaDefinition='"long"')
    return name


def _lose(client: Client, name: str) -> None:
    client("glue").delete_registry(RegistryId={"RegistryName": name})
    client("glue").create_registry(RegistryName=name)


def _ids(client: Client, name: str) -> list[str]:
    schema = {"RegistryName": name, "SchemaName": "pump"}
    listed = client("glue").list_schema_versions(SchemaId=schema)["Schemas"]
    return [each["SchemaVersionId"] for each in listed]


def test_a_registry_is_exported_deleted_and_imported(
    run: Run, client: Client, name: str, tmp_path: Path
) -> None:
    path, old = f"{tmp_path}/plant.jsonl", _ids(client, name)

    assert run("export", "--to", path) == (
        0,
        f"pump: 2 versions\nwrote {path}; schemas: 1, versions: 2\n",
    )
    _lose(client, name)
    assert run("import", path, "--dry-run") == (
        0,
        "pump: create, mode BACKWARD_ALL\n  version 1 would be registered\n"
        "  version 2 would be registered\n"
        "versions to register: 2, kept: 0, left out: 0; nothing was changed\n",
    )
    done = run("import", path)
    new = _ids(client, name)

    assert done == (
        0,
        "pump: create, mode BACKWARD_ALL\n"
        f"  version 1 is registered, {old[0]} -> {new[0]}\n"
        f"  version 2 is registered, {old[1]} -> {new[1]}\n"
        "versions registered: 2, kept: 0, left out: 0; each was compared with the backup\n",
    )
    assert run("import", path)[1].startswith("pump: keep, mode BACKWARD_ALL\n  version 1 is there,")


def test_two_exports_of_one_state_are_equal(run: Run, bucket: str, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for path in (first, second):
        assert run("export", "--to", str(path))[0] == 0

    assert first.read_bytes() == second.read_bytes()


def test_a_backup_of_lost_ids_is_replaced_only_on_demand(
    run: Run, client: Client, name: str, bucket: str
) -> None:
    where, old = f"s3://{bucket}/plant.jsonl", _ids(client, name)
    run("export", "--to", where)
    assert run("export", "--to", where)[0] == 0  # it lacks no id
    _lose(client, name)

    code, text = run("export", "--to", where)

    assert code == 1
    assert text == (
        f"penstock: {where} has 2 schema ids that the new backup lacks, such as {min(old)}; write "
        "to another file, or add --replace\n"
    )
    assert run("export", "--to", where, "--replace")[0] == 0


def test_both_say_what_they_did_as_json(run: Run, client: Client, name: str, bucket: str) -> None:
    where, old = f"s3://{bucket}/plant.jsonl", _ids(client, name)

    _, exported = run("export", "pump", "--to", where, "--output", "json")
    _lose(client, name)
    _, plan = run("import", where, "--dry-run", "--output", "json")
    _, done = run("import", where, "--output", "json")

    assert read_json("schema export", exported) == [
        {"file": where, "schemas": [{"name": "pump", "versions": 2}]}
    ]
    versions = [
        {"number": at, "id": id_, "action": "register", "newNumber": at, "newId": None}
        for at, id_ in enumerate(old, 1)
    ]
    schema = {"name": "pump", "action": "create", "compatibility": "BACKWARD_ALL"}
    assert read_json("schema import", plan) == [
        {"file": where, "dryRun": True, "schemas": [schema | {"versions": versions}]}
    ]
    for version, id_ in zip(versions, _ids(client, name), strict=True):
        version["newId"] = id_
    (told,) = read_json("schema import", done)
    assert told["schemas"] == [schema | {"versions": versions}]


def test_both_have_a_progress_bar(run: Run, bucket: str) -> None:
    file, drawn = f"s3://{bucket}/b.jsonl", {}
    for command in (["export", "--to", file], ["import", file]):
        with patch.object(sys, "stderr", Terminal()) as stderr:
            assert run(*command)[0] == 0
        drawn[command[0]] = stderr.getvalue()

    assert "[####################] 100 % of 1 schemas, " in drawn["export"]
    assert "[####################] 100 % of 1 schemas, " in drawn["import"]


def test_a_schema_that_is_missing_is_named(run: Run) -> None:
    code, out = run("export", "valve", "pump", "--to", "never")

    assert code == 1
    assert out.startswith("penstock: found no schema valve in glue://plant-")
    assert out.endswith(", expected pump\n")


def test_a_damaged_backup_changes_nothing(
    run: Run, client: Client, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "plant.jsonl"
    run("export", "--to", str(path))
    path.write_text(path.read_text().replace("long", "byte"))
    _lose(client, name)

    code, out = run("import", str(path))

    assert (code, out) == (
        1,
        f"penstock: {path}, line 4: the line does not match its checksum: it was changed, or is "
        "damaged\n",
    )
    listed = client("glue").list_schemas(RegistryId={"RegistryName": name})
    assert listed["Schemas"] == []


def test_names_that_glue_cannot_have_are_told_before_anything_is_done(
    run: Run, client: Client, name: str, tmp_path: Path
) -> None:
    """`:orders` is the subject `orders`, beside `orders-value`."""
    path, glue = tmp_path / "b.jsonl", client("glue")

    def list_names() -> set[str]:
        listed = glue.list_schemas(RegistryId={"RegistryName": name})["Schemas"]
        return {each["SchemaName"] for each in listed}

    path.write_text(_write_confluent(":orders", "a", "a b", "orders", "!c d"))
    told = (
        "penstock: schema a b would have the name 'a b', expected 1 to 255 letters, digits or "
        "- _ $ # . in Glue; choose another name for it; schemas :orders and orders would both have "
        "the name orders; choose another name for one of them; the other schemas "
    )

    code, said = run("import", str(path), "--dry-run")
    assert (code, said.endswith(f"{told}could be imported\n")) == (1, True), said
    assert list_names() == {"pump"}
    code, said = run("import", str(path))
    assert (code, said.endswith(f"{told}were imported\n")) == (1, True), said
    assert list_names() == {"a", "orders", "pump"}
    path.write_text(_write_confluent("!:orders", "a", "!c d", "orders"))
    assert run("import", str(path))[0] == 0
    assert list_names() == {"a", "orders", "pump"}


def _write_confluent(*names: str) -> str:
    """Return a backup of subjects with one version; that of a name after `!` is deleted."""
    schemas = []
    for given in names:
        name = given.removeprefix("!")
        status = VersionStatus.AVAILABLE if name == given else VersionStatus.DELETING
        version = StoredVersion("confluent:7", f"old/{name}", 1, status, '"int"', None)
        schemas.append(SchemaBackup(name, Compatibility.FULL, 0, "AVRO", "", {}, (version,)))
    return write_backup(RegistryBackup("old", FrameKind.CONFLUENT, tuple(schemas)))


def test_a_registry_in_memory_is_not_backed_up(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["schema", "export", "--to", "x", "--registry"]

    assert main([*words, "memory://"], {}) == main([*words, "glue://a/b"], {}) == 2
    assert capsys.readouterr().err.splitlines() == [
        "penstock: registry URL begins with 'memory', expected one of glue, confluent+http, "
        "confluent+https, apicurio+http, apicurio+https",
        "penstock: registry URL has a path or a #, expected ?OPTIONS after the name (%23 for # in "
        "it)",
    ]


@pytest.fixture
def take_rights(client: Client, act_as: ActAs) -> Callable[[Iterable[str]], None]:
    """Let new clients have a role with these rights of Glue and no others."""

    def take_rights(actions: Iterable[str]) -> None:
        rights = allow([f"glue:{action}" for action in actions])
        role = make_role(client("iam"), trust(ACCOUNT), rights)
        keys = client("sts").assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
        act_as(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])

    return take_rights


def test_the_rights_that_the_help_names_are_enough_and_all_are_needed(
    run: Run, client: Client, name: str, take_rights: Callable[..., None], tmp_path: Path
) -> None:
    path, every = f"{tmp_path}/plant.jsonl", {*_TO_EXPORT, *_TO_IMPORT}
    take_rights(_TO_EXPORT)
    assert run("export", "--to", path)[0] == 0
    # The schema has no tags, so that an import of it needs no TagResource.
    for missing in sorted(every - {"TagResource"}):
        _lose(client, name)
        take_rights(every - {missing})
        code, out = run("import", path)
        assert (code, f"glue:{missing} with AccessDeniedException" in out) == (1, True), out

    _lose(client, name)
    take_rights(every)
    assert run("import", path)[0] == 0
