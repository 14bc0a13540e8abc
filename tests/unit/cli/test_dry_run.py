"""`penstock produce --dry-run` says what would become of events, and changes nothing."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localcloud.cloud import Cloud
from localcloud.testing.policies import allow, make_role, trust
from penstock.cli import main
from tests.fixtures.commands import read_json
from tests.fixtures.producing import ENVIRON, write

__all__ = ["write"]

Run = Callable[..., tuple[int, list[str]]]

# Those of docs/operate/producers.md.
_NEEDED = ("GetSchema", "GetSchemaVersion", "GetTags", "ListSchemas", "ListSchemaVersions")


@pytest.fixture
def name(client: Callable[..., Any], cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> str:
    """A registry of Glue without a schema."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "111111111111")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    name = f"plant-{secrets.token_hex(4)}"
    client("glue").create_registry(RegistryName=name)
    return name


@pytest.fixture
def run(name: str, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command, and return its exit code and the lines it printed."""

    def run(*words: str, registry: str = name, options: str = "") -> tuple[int, list[str]]:
        url = f"glue://{registry}?region=eu-central-1{options}"
        code = main(["produce", "--dry-run", *words], {**ENVIRON, "PENSTOCK_REGISTRY": url})
        printed = capfd.readouterr()
        return code, (printed.out + printed.err).splitlines()

    return run


@pytest.fixture
def schemas(client: Callable[..., Any], name: str) -> Callable[[], list[tuple[str, int]]]:
    """List the schemas of the registry, each with the number of its newest version."""

    def list_them() -> list[tuple[str, int]]:
        glue, registry = client("glue"), {"RegistryName": name}
        names = [each["SchemaName"] for each in glue.list_schemas(RegistryId=registry)["Schemas"]]
        ids = {each: registry | {"SchemaName": each} for each in names}
        return [(e, glue.get_schema(SchemaId=ids[e])["LatestSchemaVersion"]) for e in names]

    return list_them


def test_each_event_has_its_version_its_changes_and_its_verdict(
    run: Run, write: Callable[..., str], schemas: Callable[[], list[tuple[str, int]]]
) -> None:
    path = write(
        '{"minor units": 1}',
        '{"minor units": 2}',
        '{"minor units": 1, "flow": true}',
        '{"minor units": "many"}',
        "{minor}",
    )

    code, lines = run(path)

    assert code == 1
    assert lines[:3] == [
        f"{path}, line 1: new version sensor v1",
        f"{path}, line 2: new version sensor v1",
        f"{path}, line 3: new version sensor v2  + flow: boolean (optional)",
    ]
    assert lines[3].startswith(f"{path}, line 4: refused: minor units: found the string 'many'")
    assert lines[3].endswith("  ~ minor units: long (optional) -> string (optional)")
    assert lines[4].startswith(f"{path}, line 5: refused: found text that is not JSON")
    said = "0 with a known version, 3 with a new one, 2 refused; nothing was sent or registered"
    assert lines[5:] == [said]
    assert schemas() == []


def test_versions_of_the_registry_are_known_and_its_rule_counts(
    run: Run,
    client: Callable[..., Any],
    name: str,
    write: Callable[..., str],
    schemas: Callable[[], list[tuple[str, int]]],
) -> None:
    made = _create_sensor(client, name)
    path = write('{"n": 1}', '{"n": 1.5}', '{"n": 2, "m": 1}')

    code, lines = run(path, "--output", "json")

    known, wider, grown, summary = read_json(
        "produce --dry-run", "".join(f"{each}\n" for each in lines)
    )
    assert (code, schemas()) == (1, [("sensor", 1)])
    assert (known["verdict"], known["schema"]["id"]) == ("known version", made["SchemaVersionId"])
    assert wider["verdict"] == "refused"
    assert "FULL" in wider["error"]["message"]
    assert "n: the reader expects long (optional), the writer may" in wider["error"]["message"]
    assert (grown["verdict"], grown["schema"]["version"]) == ("new version", 2)
    assert (grown["schema"]["id"], grown["schema"]["diff"]) == (None, ["+ m: long (optional)"])
    assert summary == {"summary": {"knownVersion": 1, "newVersion": 1, "refused": 1}}
    assert run(write('{"n": 1}'))[0] == 0


def test_the_registry_is_the_only_setting_that_it_needs(
    name: str, write: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"PENSTOCK_REGISTRY": f"glue://{name}?region=eu-central-1"}
    path = write('{"n": 1}')

    assert main(["produce", "--dry-run", path], environ) == 0
    assert main(["produce", "--dry-run", path, "--security", "scram"], environ) == 0
    assert capsys.readouterr().out.startswith(f"{path}, line 1: new version sensor v1\n")
    assert main(["produce", path], environ) == 2
    assert main(["produce", "--dry-run", path], {}) == 2
    said = capsys.readouterr().err
    assert "KAFKA_BOOTSTRAP_SERVERS (--bootstrap-servers) is missing" in said
    assert "PENSTOCK_REGISTRY (--registry) is missing" in said


def test_a_registry_that_is_not_there_is_an_error(
    run: Run, write: Callable[..., str], tmp_path: Path
) -> None:
    code, lines = run(write('{"n": 1}'), registry="no-such-registry")

    assert code == 1
    assert "Registry" in lines[0]
    assert run(str(tmp_path / "absent.jsonl"))[1][0].endswith("No such file or directory")


def test_it_needs_only_the_documented_permissions(
    run: Run, write: Callable[..., str], client: Callable[..., Any], name: str
) -> None:
    rights = allow([f"glue:{each}" for each in _NEEDED])
    arn = make_role(client("iam"), trust("arn:aws:iam::111111111111:root"), rights)

    absent = run(write('{"n": 1}'), options=f"&role_arn={arn}")
    _create_sensor(client, name)
    present = run(write('{"n": 1}'), options=f"&role_arn={arn}")

    assert (absent[0], present[0]) == (0, 0), (absent, present)


def _create_sensor(client: Callable[..., Any], registry: str) -> dict[str, Any]:
    definition = (
        '{"type":"record","name":"sensor","fields":[{"name":"deviceId","type":"string"},'
        '{"name":"timestamp","type":"long"},{"name":"n","type":["null","long"],"default":null}]}'
    )
    made: dict[str, Any] = client("glue").create_schema(
        RegistryId={"RegistryName": registry},
        SchemaName="sensor",
        DataFormat="AVRO",
        Compatibility="FULL",
        SchemaDefinition=definition,
    )
    return made
