"""`tools/terraform.py` as a command, with a pretended Terraform."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import pytest

from tools import terraform
from tools.terraform import check, main

_PRETENDED = """#!/bin/sh
echo "$(basename "$PWD"): $*" >> "$CALLS"
case "$1" in
  fmt) [ ! -f badly.tf ] || { echo badly.tf; exit 3; } ;;
  init) grep -rq "no provider" . && { echo "no such provider" >&2; exit 1; } ;;
  validate) grep -rq wrong . && { echo "Error: wrong"; exit 1; } ;;
  apply) exit 7 ;;
esac
exit 0
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the pretended Terraform writes how it was called."""
    program = tmp_path / "bin/terraform"
    program.parent.mkdir()
    program.write_text(_PRETENDED)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("TF_PLUGIN_DIR", "mirror")
    return tmp_path / "calls"


@pytest.fixture
def infra(tmp_path: Path) -> Path:
    """A root and a module that needs a second provider."""
    root, module = tmp_path / "infra/producer", tmp_path / "infra/modules/access"
    for folder in (root, module):
        folder.mkdir(parents=True)
        (folder / "main.tf").write_text("# nothing\n")
        (folder / "versions.tf").write_text("# nothing\n")
    (module / "versions.tf").write_text("configuration_aliases = [aws.producer]\n")
    return tmp_path / "infra"


def test_each_folder_is_initialised_and_validated_in_a_copy(calls: Path, infra: Path) -> None:
    before = sorted(infra.rglob("*"))

    assert check(infra) == []
    assert sorted(calls.read_text().splitlines()) == [
        "infra: fmt -check -recursive",
        "modules: init -input=false -plugin-dir=mirror -backend=false -no-color",
        "modules: validate -no-color",
        "producer: init -input=false -plugin-dir=mirror -backend=false -no-color",
        "producer: validate -no-color",
    ]
    assert sorted(infra.rglob("*")) == before


def test_modules_are_called_together_with_the_providers_that_they_take(infra: Path) -> None:
    (infra / "modules/access/variables.tf").write_text('variable "prefix" {\n}\n')
    plain = infra / "modules/bucket"
    plain.mkdir()
    (plain / "versions.tf").write_text("# nothing\n")

    called = terraform._call([infra / "modules/access", plain])

    assert called.splitlines() == [
        'resource "terraform_data" "later" {}',
        'module "access" {',
        '  source = "./access"',
        "  providers = { aws = aws, aws.producer = aws.producer }",
        "  prefix = terraform_data.later.output",
        "}",
        'module "bucket" {',
        '  source = "./bucket"',
        "}",
        'provider "aws" {',
        '  alias = "producer"',
        "}",
        'provider "aws" {}',
    ]


@pytest.mark.usefixtures("calls")
def test_findings_are_reported_by_folder(infra: Path) -> None:
    (infra / "badly.tf").write_text("x=1\n")
    (infra / "versions.tf").write_text("# nothing\n")
    (infra / "producer/main.tf").write_text("wrong\n")
    (infra / "modules/access/main.tf").write_text("no provider, wrong\n")

    assert check(infra) == [
        "infra/badly.tf: run `terraform fmt` on it",
        "infra/modules: invalid\nno such provider",
        "infra/producer: invalid\nError: wrong",
    ]


def test_the_exit_code_reports_the_findings(
    calls: Path, infra: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terraform, "_ROOT", infra.parent)
    monkeypatch.setattr("sys.argv", ["terraform.py", "check"])

    assert main() == 0
    assert capsys.readouterr() == ("", "")
    (infra / "producer/main.tf").write_text("wrong\n")
    assert main() == 1
    assert capsys.readouterr() == ("", "infra/producer: invalid\nError: wrong\n")


def test_other_words_go_to_terraform_and_init_gets_the_mirror(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["terraform.py", "-chdir=x", "init", "-upgrade"])
    assert main() == 0
    monkeypatch.setattr("sys.argv", ["terraform.py", "apply", "-auto-approve"])

    assert main() == 7
    assert calls.read_text().splitlines() == [
        f"{tmp_path.name}: -chdir=x init -input=false -plugin-dir=mirror -upgrade",
        f"{tmp_path.name}: apply -auto-approve",
    ]


@pytest.mark.parametrize("words", [[], ["--help"]])
def test_help_says_how_it_is_used(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["terraform.py", *words])

    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_path(str(terraform.__file__), run_name="__main__")
    assert "Usage: tools/terraform.py check" in capsys.readouterr().out
