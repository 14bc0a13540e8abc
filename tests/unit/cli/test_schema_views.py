"""`penstock schema` shows what a Glue registry holds, and checks what it would take."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from penstock.cli import main
from systems.sessions import REGION
from tests.fixtures.backups import Run, bucket, run
from tests.fixtures.commands import read_json
from tests.stubs.terminal import Terminal

__all__ = ["bucket", "run"]

Client = Callable[..., Any]


def _definition(*fields: tuple[str, Any]) -> str:
    described = [
        {"name": name, "type": ["null", kind], "default": None} if isinstance(kind, str) else
        {"name": name, "type": kind[0]}
        for name, kind in fields
    ]  # fmt: skip
    return json.dumps({"type": "record", "name": "pump", "fields": described})


_FIRST = _definition(("temperature", "double"))
_SECOND = _definition(("temperature", "double"), ("flow", "long"))


@pytest.fixture
def name(client: Client, bucket: str) -> str:
    """A registry with a schema of three versions, of which Glue refused one."""
    name = f"plant-{secrets.token_hex(4)}"
    glue = client("glue")
    glue.create_registry(RegistryName=name)
    glue.create_schema(
        RegistryId={"RegistryName": name},
        SchemaName="pump",
        DataFormat="AVRO",
        Compatibility="BACKWARD",
        SchemaDefinition=_FIRST,
    )
    schema = {"RegistryName": name, "SchemaName": "pump"}
    for definition in (_SECOND, _definition(("temperature", "string"))):
        glue.register_schema_version(SchemaId=schema, SchemaDefinition=definition)
    return name


@pytest.fixture
def check(run: Run, tmp_path: Path) -> Run:
    """Check a definition, and return the exit code and output of the command."""

    def check(definition: str, *words: str) -> tuple[int, str]:
        path = tmp_path / "candidate.avsc"
        path.write_text(definition)
        return run("check", "pump", str(path), *words)

    return check


def test_schemas_and_versions_are_listed(run: Run, client: Client, name: str) -> None:
    assert run("list") == (0, "pump\n")
    assert run("list", "--output", "json") == (0, '{"schemas": ["pump"]}\n')

    lines = run("versions", "pump")[1].splitlines()
    (versions,) = read_json("schema versions", run("versions", "pump", "--output", "json")[1])

    assert lines[0] == "pump: mode BACKWARD, checkpoint 1"
    listed = client("glue").list_schema_versions(
        SchemaId={"RegistryName": name, "SchemaName": "pump"}
    )["Schemas"]
    ids = {each["VersionNumber"]: each["SchemaVersionId"] for each in listed}
    states = [(1, "AVAILABLE"), (2, "AVAILABLE"), (3, "FAILURE")]
    for line, (number, status) in zip(lines[1:], states, strict=True):
        assert line.startswith(f"  version {number}: {ids[number]}, {status}, registered 20")
    assert [(each["number"], each["status"]) for each in versions["versions"]] == states
    assert [each["id"] for each in versions["versions"]] == [ids[number] for number, _ in states]
    assert [versions[name] for name in ("schema", "mode", "checkpoint")] == ["pump", "BACKWARD", 1]


def test_of_several_registries_the_first_is_looked_at(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a consumer's profile has them; other commands read them all."""
    urls = f"glue://{name}?region={REGION} confluent+http://127.0.0.1:9"

    assert main(["schema", "list"], {"PENSTOCK_REGISTRY": urls}) == 0
    assert capsys.readouterr().out == "pump\n"


def test_a_definition_is_shown(run: Run) -> None:
    newest, first = run("show", "pump"), run("show", "pump", "--version", "1")

    assert (newest[0], json.loads(newest[1])) == (0, json.loads(_SECOND))
    assert json.loads(first[1]) == json.loads(_FIRST)
    (described,) = read_json("schema show", run("show", "pump", "--output", "json")[1])
    assert (described["number"], described["definition"]) == (2, _SECOND)
    assert run("show", "pump", "--version", "9") == (
        *(1, "penstock: schema pump has no version 9, expected one of 1, 2, 3\n"),
    )


def test_a_schema_that_is_not_there_is_named_with_those_that_are(run: Run, name: str) -> None:
    known = f"penstock: found no schema nosuch in registry {name}, expected one of pump\n"
    for words in (["show", "nosuch"], ["versions", "nosuch"], ["diff", "nosuch", "1", "2"]):
        assert run(*words) == (1, known)


def test_any_two_versions_are_compared(run: Run) -> None:
    assert run("diff", "pump", "1", "2") == (
        0,
        "+ flow: long (optional)\n"
        "version 2 reads records of version 1\nversion 1 reads records of version 2\n",
    )
    code, text = run("diff", "pump", "2", "3")
    assert code == 0
    assert "version 3 cannot read records of version 2\n  temperature: " in text
    (told,) = read_json("schema diff", run("diff", "pump", "1", "2", "--output", "json")[1])
    assert told["changes"] == [{"path": "flow", "before": "", "after": "long (optional)"}]
    assert (told["afterReadsBefore"], told["beforeReadsAfter"]) == (True, True)
    (told,) = read_json("schema diff", run("diff", "pump", "2", "3", "--output", "json")[1])
    assert told["afterReadsBefore"] is False
    assert f"version 2\n  {told['afterReadsBeforeProblems'][0]}\n" in text


@pytest.mark.parametrize(
    ("definition", "code", "said"),
    [
        (_SECOND, 0, "pump has it as version 2\n"),
        (
            _definition(("temperature", "double"), ("state", "string")),
            0,
            "pump would accept it by its mode BACKWARD\n",
        ),
        (
            _definition(("temperature", "double"), ("state", ["string"])),
            1,
            "pump would reject it\n  BACKWARD: state: ",
        ),
        (_definition(("temperature", "string")), 1, "pump would reject it\n  version 3 has this"),
        (_definition(("temperature", "boolean")), 1, "\n  contradicts its versions: "),
    ],
)
def test_a_candidate_is_checked(check: Run, definition: str, code: int, said: str) -> None:
    found = check(definition)

    assert (found[0], said in found[1]) == (code, True), found
    again, printed = check(definition, "--output", "json")
    (told,) = read_json("schema check", printed)
    assert (again, told["accepted"]) == (code, code == 0)
    assert all(f"  {problem}\n" in found[1] for problem in told["problems"])


@pytest.mark.parametrize("words", [("versions",), ("show",), ("diff", "1", "2")])
def test_a_terminal_sees_how_many_versions_are_read(run: Run, words: tuple[str, ...]) -> None:
    command, *numbers = words

    with patch.object(sys, "stderr", Terminal()) as stderr:
        assert run(command, "pump", *numbers)[0] == 0

    assert "\r\x1b[K[                    ] 0 % of 3 versions of pump, " in stderr.getvalue()
    assert stderr.getvalue().endswith("\r\x1b[K")


def test_a_candidate_is_not_registered(check: Run, client: Client, name: str) -> None:
    check(_definition(("temperature", "double"), ("state", "string")))

    listed = client("glue").list_schema_versions(
        SchemaId={"RegistryName": name, "SchemaName": "pump"}
    )
    assert len(listed["Schemas"]) == 3


def test_programs_with_a_fixed_schema_are_named(check: Run) -> None:
    lines = check(_definition(("temperature", "boolean")))[1].splitlines()

    assert lines[-2:] == [
        "programs that read with version 1, 2 cannot read its records",
        "programs that read with it cannot read records of version 1, 2",
    ]


def test_a_missing_or_unusable_schema_is_an_error(run: Run, check: Run, tmp_path: Path) -> None:
    assert check('{"type": "recrod"}')[0] == 1
    code, text = run("check", "pump", str(tmp_path / "none.avsc"))
    assert (code, "none.avsc cannot be read: " in text) == (1, True)
    assert run("versions", "valve")[0] == 1
