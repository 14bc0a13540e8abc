"""Outputs of a root are those that Terraform tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import OperationError
from penstock.operations.outputs import read_output


def test_a_root_that_was_not_applied_has_no_outputs(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match=r"found no output `contracts` in .*; apply it first"):
        read_output(tmp_path, "contracts")


def test_errors_of_terraform_are_passed_on(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text("not Terraform")

    with pytest.raises(OperationError, match=r"the outputs of .* cannot be read: Error: .*"):
        read_output(tmp_path, "contracts")


def test_a_root_that_is_not_initialised_and_a_missing_folder_are_told(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('terraform {\n  backend "local" {}\n}\n')

    other = "name another root with --producer or --consumer, or its profile with --profile$"
    with pytest.raises(
        OperationError, match=rf"not initialised there; run `terraform -chdir=.* init`, or {other}"
    ):
        read_output(tmp_path, "contracts")
    with pytest.raises(OperationError, match=rf"there is no such folder; {other}"):
        read_output(tmp_path / "nowhere", "contracts")


def test_a_missing_terraform_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(
        OperationError, match=r"terraform cannot be run: No such file or directory; expected it"
    ):
        read_output(tmp_path, "contracts")
