"""The `penstock` command: a file per command, which prints what an operation returns."""

from __future__ import annotations

from penstock.cli.command import main
from penstock.cli.terminal import Progress, complain, printable, say

__all__ = ["Progress", "complain", "main", "printable", "say"]
