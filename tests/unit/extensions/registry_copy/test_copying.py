"""A copy between two Glue registries: what is refused, what stops it, and what it leaves."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from localcloud.cloud import Cloud
from localcloud.faults import Faults, Kind
from penstock.cli import main
from penstock.errors import (
    OperationError,
    RegistryAccessDeniedError,
    RegistryError,
    SchemaQuotaError,
)
from penstock.extensions.registry_copy.copying import CopyReport, CopySettings, copy_registry
from penstock.extensions.registry_copy.restore import plan_restore, restore_schema
from penstock.registry import (
    RegistryBackup,
    SchemaBackup,
    StoredVersion,
    VersionStatus,
    load_admin,
    write_backup,
)
from penstock.schemas import Compatibility
from systems.sessions import REGION
from tests.fixtures.accounts import ActAs
from tests.fixtures.backups import ACCOUNT

Client = Callable[..., Any]


class Pair:
    """Two Glue registries of one account, and the copy of the first to the second."""

    def __init__(self, glue: Any, folder: Path) -> None:
        self._glue = glue
        self.source, self.target = (f"{each}-{secrets.token_hex(4)}" for each in ("old", "new"))
        for name in (self.source, self.target):
            glue.create_registry(RegistryName=name)
        self.urls = [f"glue://{each}?region={REGION}" for each in (self.source, self.target)]
        self.map_file = str(folder / "map.jsonl")

    def create(self, registry: str, schema: str, *definitions: str, mode: str = "NONE") -> None:
        where = {"RegistryName": registry}
        self._glue.create_schema(
            RegistryId=where,
            SchemaName=schema,
            DataFormat="AVRO",
            Compatibility=mode,
            SchemaDefinition=definitions[0],
        )
        for each in definitions[1:]:
            self._glue.register_schema_version(
                SchemaId=where | {"SchemaName": schema}, SchemaDefinition=each
            )

    def copy(self, **settings: Any) -> CopyReport:
        return copy_registry(CopySettings(*self.urls, self.map_file, **settings))

    def there(self, schema: str) -> list[str]:
        """The definitions of a schema in the second registry."""
        admin = load_admin(self.urls[1])
        if schema not in admin.list_names():
            return []
        return [each.definition for each in admin.read_schema(schema).versions]


@pytest.fixture
def pair(client: Client, tmp_path: Path, act_as: ActAs) -> Pair:
    act_as(ACCOUNT)
    return Pair(client("glue"), tmp_path)


@pytest.fixture
def faults(cloud: Cloud) -> Any:
    faults = cloud.state(Faults)
    yield faults
    faults.clear()


def _problems(report: CopyReport) -> dict[str, tuple[str, ...]]:
    return {each.name: each.problems for each in report.schemas}


def test_a_dry_run_changes_nothing_and_writes_no_map(pair: Pair) -> None:
    pair.create(pair.source, "pump", '"int"', '"long"')

    report = pair.copy(dry_run=True)

    assert [each.action for each in report.schemas[0].versions] == ["register", "register"]
    assert (report.is_complete, report.map_written) == (True, False)
    assert pair.there("pump") == []
    assert not Path(pair.map_file).exists()


def test_some_schemas_are_copied_and_the_map_has_all(pair: Pair) -> None:
    for name in ("pump", "valve"):
        pair.create(pair.source, name, '"int"')

    report = pair.copy(names=["pump"], renamed={"pump": "pump.new"})

    assert [(each.name, each.new_name) for each in report.schemas] == [("pump", "pump.new")]
    assert (pair.there("pump.new"), pair.there("valve")) == (['"int"'], [])
    lines = [json.loads(line) for line in Path(pair.map_file).read_text().splitlines()]
    assert [each["name"] for each in lines if each["line"] == "schema"] == ["pump", "valve"]
    with pytest.raises(OperationError, match=r"found no schema x, y in .*, expected pump, valve"):
        pair.copy(names=["x"], renamed={"y": "z"})


def test_the_map_is_compared_as_it_is_written(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    pair.create(pair.source, "pump", '"int"')

    def write(backup: RegistryBackup) -> str:
        (schema,) = backup.schemas
        versions = tuple(replace(each, definition='"long"') for each in schema.versions)
        return write_backup(replace(backup, schemas=(replace(schema, versions=versions),)))

    monkeypatch.setattr("penstock.extensions.registry_copy.copying.write_backup", write)

    (problem,) = _problems(pair.copy())["pump"]

    assert problem.startswith(f"version 1: {pair.map_file} has another definition under ")


def test_two_schemas_of_one_name_are_refused_and_others_are_copied(pair: Pair) -> None:
    for name in ("a", "b", "c"):
        pair.create(pair.source, name, '"int"')

    report = pair.copy(renamed={"c": "a"})

    assert _problems(report)["c"] == (
        "schemas a and c would both have the name a; choose another name for one of them",
    )
    assert not report.is_complete
    assert (pair.there("a"), pair.there("b")) == (['"int"'], ['"int"'])


def test_versions_of_the_second_registry_stay_and_are_reported(pair: Pair) -> None:
    pair.create(pair.source, "pump", '"int"', '"long"')
    pair.create(pair.target, "pump", '"int"', '"long"', '"double"')

    (schema,) = pair.copy().schemas

    assert (schema.problems, schema.action) == ((), "keep")
    assert schema.notes == (f"{pair.urls[1]} has 1 more versions",)


def test_another_order_is_refused(pair: Pair) -> None:
    pair.create(pair.source, "pump", '"int"', '"long"')
    pair.create(pair.target, "pump", '"long"')

    (problem,) = _problems(pair.copy())["pump"]

    assert problem.startswith(
        "version 1 of schema pump would come after version 2, which the registry has as version 1"
    )
    assert pair.there("pump") == ['"long"']


def test_two_versions_of_one_form_share_a_version(pair: Pair) -> None:
    pair.create(pair.source, "pump", '"int"', ' "int"', '"long"')

    (schema,) = pair.copy().schemas

    assert [(each.action, each.new_number, each.samples) for each in schema.versions] == [
        ("register", 1, 3), ("share", 1, 3), ("register", 2, 3),
    ]  # fmt: skip
    assert pair.there("pump") == ['"int"', '"long"']
    assert pair.copy().is_unchanged


def test_the_mode_is_set_before_the_second_version(pair: Pair, cloud: Cloud, faults: Any) -> None:
    definitions = ['"int"', '"long"', '"double"']
    pair.create(pair.source, "pump", *definitions, mode="BACKWARD")
    fault = faults.add(
        kind=Kind.ERROR, service="glue", operation="RegisterSchemaVersion", account=ACCOUNT,
        code="AccessDeniedException", status=400,
    )  # fmt: skip

    with pytest.raises(RegistryAccessDeniedError, match="glue:RegisterSchemaVersion"):
        pair.copy()

    assert fault.broken
    assert load_admin(pair.urls[1]).read_schema("pump").compatibility is Compatibility.BACKWARD
    faults.clear()
    report = pair.copy()
    assert (report.is_complete, pair.there("pump")) == (True, definitions)


def test_a_full_registry_stops_the_copy_and_the_next_run_continues_it(
    pair: Pair, faults: Any
) -> None:
    for name in ("a", "b"):
        pair.create(pair.source, name, '"int"')
    faults.add(
        kind=Kind.ERROR, service="glue", operation="CreateSchema", account=ACCOUNT,
        code="ResourceNumberLimitExceededException", status=400, calls=1,
    )  # fmt: skip

    with pytest.raises(SchemaQuotaError):
        pair.copy()

    assert pair.there("b") == []
    assert pair.copy().is_complete
    assert pair.there("b") == ['"int"']


def test_a_part_of_a_schema_is_named(pair: Pair, faults: Any) -> None:
    pair.create(pair.source, "a", '"int"', '"long"', mode="BACKWARD")
    pair.create(pair.source, "b", '"int"')
    faults.add(
        kind=Kind.ERROR, service="glue", operation="UpdateSchema", account=ACCOUNT,
        code="InvalidInputException", status=400, calls=1,
    )  # fmt: skip

    problems = _problems(pair.copy())

    assert problems["b"] == ()
    assert problems["a"][0].endswith(f"; 1 of the 2 versions of a are in {pair.urls[1]}")
    assert pair.copy().is_complete


def test_a_history_that_fails_leaves_the_schema_in_its_mode(pair: Pair, faults: Any) -> None:
    pair.create(pair.source, "pump", '"int"', '"string"', mode="NONE")
    pair.create(pair.target, "pump", '"int"', mode="FULL")
    faults.add(
        kind=Kind.ERROR, service="glue", operation="RegisterSchemaVersion", account=ACCOUNT,
        code="InvalidInputException", status=400, calls=1,
    )  # fmt: skip

    report = pair.copy(accept_history=True)

    assert not report.is_complete
    assert load_admin(pair.urls[1]).read_schema("pump").compatibility is Compatibility.FULL
    assert pair.copy(accept_history=True).is_complete
    assert load_admin(pair.urls[1]).read_schema("pump").compatibility is Compatibility.NONE


def test_a_mode_that_was_not_changed_is_not_set() -> None:
    version = StoredVersion("confluent:7", "new/pump", 1, VersionStatus.AVAILABLE, '"int"', None)
    target = SchemaBackup("pump", Compatibility.FULL, 0, "AVRO", "", {}, (version,))
    added = replace(version, number=2, definition='"long"')
    plan = plan_restore(replace(target, versions=(version, added)), target)
    admin = Mock(add_version=Mock(side_effect=RegistryError("no")))

    with pytest.raises(RegistryError, match=r"^no$"):
        restore_schema(admin, plan, Compatibility.FULL)

    admin.describe_schema.assert_not_called()


def test_registries_that_cannot_be_copied_to_each_other_are_refused(tmp_path: Path) -> None:
    def copy(source: str, target: str) -> CopyReport:
        return copy_registry(CopySettings(source, target, str(tmp_path / "m")))

    glue = f"glue://a?region={REGION}"
    with pytest.raises(OperationError, match=f"found {re.escape(glue)} as both registries"):
        copy(glue, glue)
    with pytest.raises(OperationError, match=r"^apicurio.http://a.* and .* both number their"):
        copy("apicurio+http://a", "apicurio+http://b")
    with pytest.raises(
        OperationError,
        match=r"^apicurio.http://a\S* has content ids besides its global ids, which would be other "
        r"schemas' ids in confluent.http://b, expected Glue as the second registry$",
    ):
        copy("apicurio+http://a", "confluent+http://b")


def test_the_command_prints_what_it_did(pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    pair.create(pair.source, "pump", '"int"', '"long"', mode="BACKWARD")
    words = ["registry", "copy", *pair.urls, "--map", pair.map_file]

    assert main([*words, "--dry-run"], {}) == 0
    assert capsys.readouterr().out == (
        "pump: create, mode BACKWARD\n  version 1 would be registered\n"
        "  version 2 would be registered\n"
        "versions to register: 2, kept: 0, shared: 0, left out: 0; schemas with problems: 0\n"
        "nothing was changed\n"
    )
    assert main(words, {}) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("  version 1 is registered, ")
    assert lines[3:] == [
        "versions registered: 2, kept: 0, shared: 0, left out: 0; schemas with problems: 0",
        "compared: 2 versions, 6 sample records",
        f"map: {pair.map_file}",
    ]
    assert main(words, {}) == 0
    assert "nothing had to be changed" in capsys.readouterr().out
    assert main([*words, "--rename", "pump=a b"], {}) == 1
    assert "  PROBLEM schema pump would have the name 'a b', expected" in capsys.readouterr().out
    assert main([*words, "--disabled-as", "DISABLED"], {}) == 2
    assert "the mode is 'DISABLED', expected one of NONE, BACK" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*words, "--rename", "pump"], {})
    assert "found 'pump', expected NAME=NEW" in capsys.readouterr().err
