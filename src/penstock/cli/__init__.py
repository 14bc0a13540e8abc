"""The `penstock` command: a file per command, which prints what an operation returns."""

from __future__ import annotations

from penstock.cli.command import main
from penstock.cli.terminal import printable

__all__ = ["main", "printable"]
