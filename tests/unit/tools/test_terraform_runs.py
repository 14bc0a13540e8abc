"""How tests run Terraform: what it is given, and what a failure says; with a pretended one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fixtures.terraform import Terraform

# Writes what it was called with; a plan ends as CODE says, which a variable of the root holds.
_PRETENDED = """#!/bin/sh
{ echo "$@"; env | grep -E '^(AWS|TF|CHECKPOINT)_' | sort; } >> calls
case "$1" in
  plan) seq 100; echo "no such thing" >&2; exit "$TF_VAR_code" ;;
  output) echo '{"host": {"value": "b-1"}}' ;;
esac
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terraform:
    """A root that was initialised by the pretended Terraform."""
    program = tmp_path / "bin/terraform"
    program.parent.mkdir()
    program.write_text(_PRETENDED)
    program.chmod(0o755)
    root = tmp_path / "any.tf"
    root.write_text("# nothing")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TF_PLUGIN_DIR", "mirror")
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "absent"))
    monkeypatch.setenv("TF_PLUGIN_CACHE_DIR", "cache")
    monkeypatch.setenv("TF_VAR_code", "5")
    monkeypatch.setenv("AWS_PROFILE", "mine")
    (tmp_path / "work").mkdir()
    return Terraform(root, tmp_path / "work", "http://127.0.0.1:9", "111111111111")


def test_a_child_gets_the_endpoint_and_nothing_of_the_users_own(
    run: Terraform, tmp_path: Path
) -> None:
    assert (tmp_path / "work/main.tf").read_text() == "# nothing"
    assert (tmp_path / "work/calls").read_text().splitlines() == [
        "init -input=false -plugin-dir=mirror -no-color",
        "AWS_ACCESS_KEY_ID=111111111111",
        "AWS_DEFAULT_REGION=eu-central-1",
        "AWS_EC2_METADATA_DISABLED=true",
        "AWS_ENDPOINT_URL=http://127.0.0.1:9",
        "AWS_REGION=eu-central-1",
        "AWS_SECRET_ACCESS_KEY=localcloud",
        "CHECKPOINT_DISABLE=1",
        "TF_PLUGIN_CACHE_DIR=cache",
    ]


def test_a_plan_reports_whether_there_are_changes(run: Terraform) -> None:
    assert run.has_changes(code=2)
    assert not run.has_changes(code=0)


def test_variables_go_as_text_or_json_and_outputs_come_back(run: Terraform, tmp_path: Path) -> None:
    run.apply(name="a b", open=True)
    run.destroy()

    calls = (tmp_path / "work/calls").read_text().splitlines()
    assert {"apply -auto-approve -no-color", "TF_VAR_name=a b", "TF_VAR_open=true"} <= set(calls)
    assert "destroy -auto-approve -refresh=false -no-color" in calls
    assert run.outputs() == {"host": "b-1"}


def test_a_failure_says_the_command_and_the_last_lines(run: Terraform) -> None:
    with pytest.raises(pytest.fail.Exception) as failed:
        run.has_changes(code=1)

    lines = str(failed.value).splitlines()
    assert lines[0] == "terraform plan ended with 1:"
    assert (lines[1], lines[-2:]) == ("72", ["100", "no such thing"])
