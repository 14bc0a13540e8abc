"""The `penstock` command: a file per command, which prints what an operation returns.

Commands of extensions are entry points (`penstock.cli.commands`), and use what is exported here.
"""

from __future__ import annotations

from penstock.cli.arguments import (
    add_output,
    expect,
    expect_count,
    find_root,
    use_answer_codes,
)
from penstock.cli.command import main
from penstock.cli.profiles import write_profiles
from penstock.cli.terminal import Progress, print_error, print_line, printable
from penstock.cli.values import print_json

__all__ = [
    "Progress",
    "add_output",
    "expect",
    "expect_count",
    "find_root",
    "main",
    "print_error",
    "print_json",
    "print_line",
    "printable",
    "use_answer_codes",
    "write_profiles",
]
