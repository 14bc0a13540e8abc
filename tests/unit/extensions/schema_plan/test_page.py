"""docs/schema-plan.md: its commands print what the page says, with the rights that it names."""

from __future__ import annotations

import json
import random
import re
import secrets
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from localcloud.testing.policies import trust
from penstock.cli import main
from tests.fixtures.accounts import ActAs
from tests.fixtures.backups import ACCOUNT
from tests.fixtures.root_outputs import make_consumer, write_outputs
from tests.oracle.evolve import COMPATIBLE, evolve
from tests.oracle.generate import Maker
from tests.unit.extensions.schema_plan.folders import commit

_ROOT = Path(__file__).parents[4]
_TEXT = (_ROOT / "docs/schema-plan.md").read_text()
_NAMED = r"(?:^`([\w./-]+)`[:;][^\n]*\n\n)?"
_BLOCK = re.compile(_NAMED + r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
_REGISTRY = "glue://penstock?region=eu-central-1"


def _blocks(kind: str) -> list[str]:
    return [text for _, found, text in _BLOCK.findall(_TEXT) if found == kind]


def _policy() -> dict[str, Any]:
    (text,) = [each for each in _blocks("json") if "Statement" in each]
    return json.loads(text)


@pytest.fixture
def folder(
    client: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """The working directory of the commands, and an empty registry that they name."""
    glue = client("glue")
    glue.create_registry(RegistryName="penstock")
    monkeypatch.chdir(tmp_path)
    write_outputs(tmp_path / "consumer.json", make_consumer(jobs=("consume",)))
    yield tmp_path
    for each in glue.list_schemas(RegistryId={"RegistryName": "penstock"})["Schemas"]:
        glue.delete_schema(SchemaId={"SchemaArn": each["SchemaArn"]})
    glue.delete_registry(RegistryId={"RegistryName": "penstock"})


@pytest.fixture
def read_only(client: Callable[..., Any], act_as: ActAs) -> Iterator[Callable[[], None]]:
    """Let new clients have a role with the policy of the page."""
    iam = client("iam")
    role = iam.create_role(RoleName="schema-plan", AssumeRolePolicyDocument=trust(ACCOUNT))["Role"]
    iam.put_role_policy(
        RoleName="schema-plan", PolicyName="read", PolicyDocument=json.dumps(_policy())
    )

    def take() -> None:
        assume = client("sts").assume_role
        keys = assume(RoleArn=role["Arn"], RoleSessionName="test")["Credentials"]
        act_as(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])

    yield take
    iam.delete_role_policy(RoleName="schema-plan", PolicyName="read")
    iam.delete_role(RoleName="schema-plan")


def test_the_page_is_what_happens(
    folder: Path,
    read_only: Callable[[], None],
    act_as: ActAs,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = _TEXT[: _TEXT.index("| exit code |")]
    ran = []
    for name, kind, text in _BLOCK.findall(page):
        if name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        elif kind == "sh":
            program, *words = shlex.split(text)
            assert program == "penstock"
            if words[1] == "plan":
                read_only()
            else:
                act_as(ACCOUNT)
            code = main(words, {"PENSTOCK_REGISTRY": _REGISTRY})
            ran.append((words[1], code))
        elif kind == "text":
            printed = capsys.readouterr()
            assert printed.err == ""
            assert _ID.sub("ID", printed.out) == _ID.sub("ID", text)
    assert ran == [("plan", 2), ("apply", 0), ("plan", 3), ("plan", 2)]


def test_every_right_of_the_page_is_needed(
    folder: Path,
    read_only: Callable[[], None],
    client: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "schemas").mkdir()
    (folder / "schemas/a.avsc").write_text('{"type": "record", "name": "A", "fields": []}')
    client("glue").create_schema(
        RegistryId={"RegistryName": "penstock"}, SchemaName="a", DataFormat="AVRO",
        Compatibility="BACKWARD", SchemaDefinition='{"type":"record","name":"B","fields":[]}',
    )  # fmt: skip
    words = ["schema", "plan", "schemas", "--registry", _REGISTRY]
    policy = _policy()
    actions = [action for each in policy["Statement"] for action in _list(each["Action"])]
    assert len(actions) == 5
    for missing in actions:
        kept = [
            {**each, "Action": left}
            for each in policy["Statement"]
            if (left := [action for action in _list(each["Action"]) if action != missing])
        ]
        client("iam").put_role_policy(
            RoleName="schema-plan",
            PolicyName="read",
            PolicyDocument=json.dumps({**policy, "Statement": kept}),
        )
        read_only()

        assert main(words, {}) == 1
        assert f"answered {missing} with AccessDeniedException" in capsys.readouterr().err


def test_glue_registers_as_planned(  # noqa: PLR0913, PLR0917 - fixtures
    client: Callable[..., Any],
    tmp_path: Path,
    act_as: ActAs,
    seeded: random.Random,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    registry = f"plan-{secrets.token_hex(4)}"
    client("glue").create_registry(RegistryName=registry)
    act_as(ACCOUNT)
    monkeypatch.chdir(tmp_path)
    maker = Maker(seeded)
    definitions = [maker.record(2)]
    while len(definitions) < 8:
        definitions.append(evolve(definitions[-1], maker, seeded.choice(sorted(COMPATIBLE))))
    (tmp_path / "schemas").mkdir()
    states = set()

    def run(command: str) -> tuple[int, Any]:
        url = f"glue://{registry}?region=eu-central-1"
        words = ["schema", command, "schemas", "--registry", url, "--output", "json"]
        code = main(words, {})
        printed = capsys.readouterr()
        assert printed.err == ""
        return code, json.loads(printed.out) if code != 3 or command == "plan" else {}

    for definition in definitions:
        (tmp_path / "schemas/pump.avsc").write_text(json.dumps(definition))
        code, plan = run("plan")
        (planned,) = plan["schemas"]
        states.add(planned["state"])
        applied, found = run("apply")
        if code == 2:
            (registered,) = found["registered"]
            assert (applied, registered["version"]) == (0, planned["version"])
        else:
            assert applied == code
            assert run("plan") == (code, plan)
    assert "new" in states


def _list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of git with a schema, and a change that is not committed."""
    monkeypatch.chdir(tmp_path)
    schema = tmp_path / "schemas/sensor.avsc"
    schema.parent.mkdir()
    schema.write_text('{"type": "record", "name": "S", "fields": []}')
    commit()
    schema.write_text(schema.read_text().replace("[]", '[{"name": "a", "type": "int"}]'))
    return tmp_path


def test_the_hook_fails_if_a_change_is_forbidden(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (hook,) = yaml.safe_load((_ROOT / ".pre-commit-hooks.yaml").read_text())
    (used,) = [yaml.safe_load(each) for each in _blocks("yaml") if "rev:" in each]
    (wanted,) = used["repos"][0]["hooks"]
    program, *words = [*hook["entry"].split(), *wanted["args"]]
    assert (program, hook["id"], hook["pass_filenames"]) == ("penstock", wanted["id"], False)
    assert all(re.search(hook["files"], name) for name in ("a/b.avsc", "schemas/exceptions.toml"))

    assert main(words, {}) == 3
    assert "READER_FIELD_MISSING_DEFAULT_VALUE: a: " in capsys.readouterr().out

    schema = repository / "schemas/sensor.avsc"
    schema.write_text(schema.read_text().replace('"int"', '"int", "default": 1'))
    assert main(words, {}) == 0


def test_the_workflow_runs_a_plan(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workflow,) = [yaml.safe_load(each) for each in _blocks("yaml") if "runs-on" in each]
    steps = workflow["jobs"]["plan"]["steps"]
    (step,) = [each for each in steps if "penstock schema plan" in each.get("run", "")]
    assert step["env"] == {"PENSTOCK_REGISTRY": _REGISTRY}

    code = main([*shlex.split(step["run"])[1:], "--against", "git:HEAD"], {})

    assert code == 3
    assert "::error file=schemas/sensor.avsc,line=1,title=sensor::" in capsys.readouterr().out
    assert (repository / "plan.md").read_text().startswith("<!-- penstock schema plan -->\n")


def test_the_data_source_prints_an_object_of_strings(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = re.search(r"program = (\[.*\])", "\n".join(_blocks("hcl")))
    assert found
    program, *words = json.loads(found[1])
    assert program == "penstock"

    assert main([*words, "--against", "git:HEAD"], {}) == 0

    result = json.loads(capsys.readouterr().out)
    assert all(isinstance(value, str) for value in result.values())
    assert (result["forbidden"], result["changed"]) == ("sensor", "")
    assert result["text"].startswith("sensor: forbidden")
