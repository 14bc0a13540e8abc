"""Blocks of formatted HCL are read with their arguments; tables show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.hcl import module_tables, on_one_line, read_blocks

_VARIABLES = """\
# A comment { with a brace
variable "cluster" {
  description = "The cluster | its \\"brokers\\"."
  type = object({
    # Not the name.
    arn    = string
    shares = optional(map(object({
      host = string
    })), {})
  })
  default = {
    arn = "a"
  }

  validation {
    condition     = var.cluster != null
    error_message = "cluster is null; give one."
  }
}

variable "prefix" {
  description = "What names begin with."
  type        = string
}
"""
_OUTPUTS = """\
output "arn" {
  description = "The ARN."
  value       = var.cluster.arn
}

locals {}
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A module of two files."""
    (tmp_path / "variables.tf").write_text(_VARIABLES)
    (tmp_path / "outputs.tf").write_text(_OUTPUTS)
    return tmp_path


def test_blocks_are_read_by_kind_with_their_own_arguments(module: Path) -> None:
    cluster, prefix = read_blocks(module, "variable")

    assert (cluster.labels, cluster.name) == (("cluster",), "cluster")
    assert list(cluster.arguments) == ["description", "type", "default"]
    assert prefix.arguments == {
        "description": '"What names begin with."',
        "type": "string",
    }
    assert [(one.kind, one.name) for one in read_blocks(module)][:2] == [
        ("output", "arn"),
        ("locals", ""),
    ]


def test_tables_show_inputs_and_outputs(module: Path) -> None:
    assert module_tables(module) == (
        "| input | type | default | meaning |\n| --- | --- | --- | --- |\n"
        "| `cluster` "
        "| `object({ arn = string, shares = optional(map(object({ host = string })), {}) })`"
        ' | `{ arn = "a" }` | The cluster \\| its "brokers". |\n'
        "| `prefix` | `string` | required | What names begin with. |\n"
        "\n| output | meaning |\n| --- | --- |\n"
        "| `arn` | The ARN. |\n"
    )


def test_a_module_without_either_has_no_tables(tmp_path: Path) -> None:
    assert module_tables(tmp_path) == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("string", "string"),
        ("[\n  1,\n  2,\n]", "[1, 2,]"),
        ("{\n  a   = 1\n  b = 2\n}", "{ a = 1, b = 2 }"),
        ("", ""),
    ],
)
def test_an_expression_goes_on_one_line(text: str, line: str) -> None:
    assert on_one_line(text) == line
