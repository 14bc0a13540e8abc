"""The `penstock` command, for people who operate it."""

from __future__ import annotations

from penstock.cli.command import main

__all__ = ["main"]
