"""The data source of docs/schema-plan.md fails a plan of Terraform while a schema is forbidden.

Terraform evaluates its condition over what the command prints. A resource that Terraform brings
with it stands for the provider `hashicorp/external`, which runs the command.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.cli import main
from tests.unit.extensions.schema_plan.folders import commit
from tools.terraform import child_environ

pytestmark = pytest.mark.terraform

_PAGE = Path(__file__).parents[2] / "docs/schema-plan.md"
_INPUT = 'variable "printed" {}\n\n'


def _read_block() -> tuple[list[str], str]:
    """Return the words of the command, and the block over the command's output."""
    blocks = re.findall(r"^```hcl\n(.*?)^```", _PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (text,) = (each for each in blocks if each.startswith('data "external"'))
    (program,) = re.findall(r"program = (\[.*\])", text)
    text = text.replace(f"program = {program}", "input = jsondecode(var.printed)")
    text = text.replace('data "external"', 'resource "terraform_data"')
    return json.loads(program), text.replace("self.result", "self.input")


@pytest.fixture
def plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], tuple[int, str]]:
    """Return a function that writes a field of a committed schema, and plans by the block."""
    monkeypatch.chdir(tmp_path)
    (_, *words), block = _read_block()
    (tmp_path / "main.tf").write_text(_INPUT + block)
    schema = tmp_path / "schemas/sensor.avsc"
    schema.parent.mkdir()
    schema.write_text('{"type": "record", "name": "S", "fields": []}')
    commit()

    def run(*command: str) -> tuple[int, str]:
        environ = child_environ(os.environ)
        done = subprocess.run(
            ["terraform", *command, "-no-color", "-input=false"],
            env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def plan(field: str) -> tuple[int, str]:
        schema.write_text(f'{{"type": "record", "name": "S", "fields": [{field}]}}')
        assert main([*words, "--against", "git:HEAD"], {}) == 0
        printed = capsys.readouterr().out
        return run("plan", f"-var=printed={printed}")

    code, said = run("init")
    assert code == 0, said
    return plan


def test_a_forbidden_schema_fails_the_plan_with_its_reason(
    plan: Callable[[str], tuple[int, str]],
) -> None:
    code, said = plan('{"name": "a", "type": "int"}')

    assert code == 1
    assert "Resource postcondition failed" in said
    assert "READER_FIELD_MISSING_DEFAULT_VALUE: a: " in said

    code, said = plan('{"name": "a", "type": "int", "default": 0}')

    assert code == 0, said
    assert 'changed   = "sensor"' in said
