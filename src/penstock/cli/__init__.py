"""The `penstock` command: a file per command, which prints what an operation returns.

Commands of extensions are entry points (`penstock.cli.commands`), and use what is exported here.
"""

from __future__ import annotations

from penstock.cli.arguments import (
    HOST_COMMAND,
    add_from_environ,
    add_output,
    add_outputs,
    add_root,
    expect,
    expect_count,
    find_root,
    use_answer_codes,
)
from penstock.cli.command import main
from penstock.cli.profiles import ROOTS, drop_profiles, read_profiles, write_profiles
from penstock.cli.terminal import Progress, print_line, printable
from penstock.cli.values import (
    describe_bytes,
    describe_value,
    print_json,
    show_moment,
)

__all__ = [
    "HOST_COMMAND",
    "ROOTS",
    "Progress",
    "add_from_environ",
    "add_output",
    "add_outputs",
    "add_root",
    "describe_bytes",
    "describe_value",
    "drop_profiles",
    "expect",
    "expect_count",
    "find_root",
    "main",
    "print_json",
    "print_line",
    "printable",
    "read_profiles",
    "show_moment",
    "use_answer_codes",
    "write_profiles",
]
