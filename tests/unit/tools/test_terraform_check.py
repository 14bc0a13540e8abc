"""`tools/terraform.py` as a command, with a pretended Terraform."""

from __future__ import annotations

import os
import platform
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import terraform
from tools.terraform import check, fetch_provider, init_words, main

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


@pytest.fixture
def without_mirror(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], int]:
    """Fetch the provider of a pretended registry into a clone, on a machine that has none."""
    provider = ".terraform/providers/registry.terraform.io/hashicorp/aws/1.2.3/linux_amd64"
    program = tmp_path / "bin/terraform"
    program.write_text(_PRETENDED.replace("exit 1; } ;;", f"exit 1; }}; mkdir -p {provider} ;;", 1))
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(terraform, "_SYSTEM_PLACES", ())
    monkeypatch.setattr(terraform, "_KEPT", tmp_path / ".cache/terraform")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return lambda: fetch_provider("1.2.3", {})


def test_a_provider_without_a_mirror_is_fetched_once_for_all_roots(
    without_mirror: Callable[[], int], calls: Path, tmp_path: Path
) -> None:
    assert (without_mirror(), without_mirror()) == (0, 0)

    assert calls.read_text() == "terraform: init -input=false -no-color\n"
    kept = tmp_path / ".cache/terraform/providers"
    assert init_words("1.2.3", {})[-1] == f"-plugin-dir={kept}"
    needed = (tmp_path / ".cache/terraform/main.tf").read_text()
    assert 'aws = { source = "hashicorp/aws", version = "1.2.3" }' in needed


def test_without_a_registry_the_way_to_name_a_provider_is_shown(
    without_mirror: Callable[[], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bin/terraform").write_text("#!/bin/sh\necho 'no such host' >&2; exit 1\n")

    assert without_mirror() == 1
    assert capsys.readouterr().err == (
        "no such host\n"
        "Without Terraform's registry: set TF_PLUGIN_DIR to a folder with the unpacked provider\n"
    )


@pytest.mark.parametrize("words", [[], ["--help"]])
def test_help_says_how_it_is_used(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["terraform.py", *words])

    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_path(str(terraform.__file__), run_name="__main__")
    assert "Usage: tools/terraform.py check" in capsys.readouterr().out
