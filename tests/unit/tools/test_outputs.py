"""Outputs of a root are those that Terraform tells of it."""

from __future__ import annotations

import pytest

from tools.outputs import OutputError, read_output


def test_a_root_that_was_not_applied_has_no_outputs(tmp_path) -> None:
    with pytest.raises(OutputError, match="has no output `contracts`; apply it first"):
        read_output(tmp_path, "contracts")


def test_what_terraform_says_is_passed_on(tmp_path) -> None:
    (tmp_path / "main.tf").write_text("not Terraform")
    with pytest.raises(OutputError, match=r"terraform output of .* failed: .*Error"):
        read_output(tmp_path, "contracts")
