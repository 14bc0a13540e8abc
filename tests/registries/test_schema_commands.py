"""`penstock schema` on a real Apicurio, by both of its APIs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.cli import main
from penstock.registry import BackupRegistry, load_backup, load_registry
from penstock.registry.overlay import OverlayRegistry
from tests.fixtures.commands import read_json
from tests.fixtures.root_outputs import make_consumer, write_outputs
from tests.stubs.registries import Reading

pytestmark = pytest.mark.java

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(url: str, reading: Reading, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command on a registry with three versions, and return its exit code and output."""
    registry = load_registry(f"{url}?compatibility=BACKWARD")
    for fields in ({}, {"flow": "long"}, {"flow": "long", "level": "double"}):
        registry.register("readings", reading(**fields))

    def run(*words: str) -> tuple[int, str]:
        code = main(["schema", *words], {"PENSTOCK_REGISTRY": url})
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def test_a_registry_is_shown(run: Run) -> None:
    assert run("list") == (0, "readings\n")
    code, text = run("versions", "readings")
    assert (code, text.splitlines()[0]) == (0, "readings: mode BACKWARD")
    assert len(text.splitlines()) == 4
    (told,) = read_json("schema versions", run("versions", "readings", "--output", "json")[1])
    assert told["checkpoint"] is None
    assert len(json.loads(run("show", "readings")[1])["fields"]) == 3
    assert run("diff", "readings", "1", "2") == (
        0,
        "+ flow: long (optional)\n"
        "version 2 reads records of version 1\nversion 1 reads records of version 2\n",
    )


def test_a_candidate_is_compared_with_the_version_before(
    run: Run, reading: Reading, tmp_path: Path
) -> None:
    def check(schema: object) -> tuple[int, str]:
        path = tmp_path / "candidate.avsc"
        path.write_text(json.dumps(schema))
        return run("check", "readings", str(path))

    required = {"name": "level", "type": ["null", "double"]}
    as_before = reading(flow="long")
    schema = as_before | {"fields": [*as_before["fields"], required]}  # type: ignore[call-overload, index, operator]

    assert check(reading(flow="long"))[1] == "readings has it as version 2\n"
    assert check(schema)[1].startswith("readings would accept it by its mode BACKWARD\n")
    code, text = check(reading(flow="string"))
    assert (code, text.startswith("readings would reject it\n  BACKWARD: flow: ")) == (1, True)


def test_a_folder_is_registered_as_planned(run: Run, reading: Reading, tmp_path: Path) -> None:
    file = tmp_path / "readings.avsc"

    def plan(schema: object) -> tuple[int, str]:
        file.write_text(json.dumps(schema, indent=2))
        return run("plan", str(tmp_path))

    assert plan(reading(flow="long"))[0] == 0
    code, text = plan(reading(flow="string"))
    assert (code, text.startswith("readings: forbidden, mode BACKWARD\n")) == (3, True)
    code, text = plan(reading(flow="long", level="double", planned="string"))
    first = "readings: changed, version 4, mode BACKWARD, 96 versions left of the budget\n"
    assert (code, text.startswith(first)) == (2, True)
    code, text = run("apply", str(tmp_path))
    assert (code, text.splitlines()[-1]) == (0, "registered: 1, same: 0")
    assert run("plan", str(tmp_path))[0] == 0
    assert len(run("versions", "readings")[1].splitlines()) == 1 + 4


def test_a_definition_is_registered_once(run: Run, reading: Reading, tmp_path: Path) -> None:
    path = tmp_path / "new.avsc"

    def register(schema: object, *words: str) -> tuple[int, str]:
        path.write_text(json.dumps(schema, indent=2))
        return run("register", "readings", str(path), *words)

    new = reading(flow="long", level="double", state="string")
    code, text = register(new)
    (again,) = read_json("schema register", register(new, "--output", "json")[1])

    assert (code, text) == (0, f"readings: registered version 4, {again['id']}\n")
    assert (again["number"], again["created"]) == (4, False)
    assert register(new)[1] == f"readings: has version 4, {again['id']}\n"
    code, text = register(reading(flow="string"))
    assert (code, "refuses a new version of schema readings" in text) == (1, True), text
    path.unlink()
    assert run("register", "readings", str(path))[1].startswith(f"penstock: {path} cannot be read")


def test_a_backup_is_written_and_old_ids_are_read_with_it(
    run: Run, url: str, reading: Reading, tmp_path: Path
) -> None:
    path = f"{tmp_path}/registry.jsonl"
    registry = load_registry(url)
    version = registry.versions("readings")[0]

    assert run("export", "--to", path)[1].splitlines()[0] == "readings: 3 versions"
    code, text = run("import", path)

    assert (code, "numbers its schemas, so its new ids would be old ids of others" in text) == (
        1,
        True,
    )
    backup = BackupRegistry(load_backup(path), path)
    assert backup.get(version.key) == version
    assert OverlayRegistry(registry, [backup]).get(version.key) == version


def test_subjects_that_share_an_id_are_one_in_a_backup(
    run: Run, url: str, reading: Reading, tmp_path: Path
) -> None:
    registry = load_registry(url)
    second = registry.register("more", reading()).version
    path = f"{tmp_path}/registry.jsonl"
    assert run("export", "--to", path)[0] == 0
    backup = BackupRegistry(load_backup(path), path)
    overlay = OverlayRegistry(load_registry(f"{url}?allow=readings"), [backup])
    key = registry.versions("readings")[0].key

    assert overlay.get(key).name == "readings"
    assert backup.get(second.key).name == "more"


def test_apply_knows_the_programs_that_plan_knows(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "schemas"
    folder.mkdir()
    fields = [{"name": "timestamp", "type": "string"}]
    schema = {"type": "record", "name": "Sensor", "fields": fields}
    (folder / "sensor.avsc").write_text(json.dumps(schema))
    outputs = write_outputs(tmp_path / "consumer.json", make_consumer(jobs=("consume",)))

    for command in ("plan", "apply"):
        code, text = run(command, str(folder), "--outputs", str(outputs))
        assert code == 3
        assert "KEY_FIELD: deviceId: lake.readings of analytics needs the field" in text
    assert run("list") == (0, "readings\n")
