"""`penstock completion`: print what makes a shell complete commands and flags."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from argcomplete.shell_integration import shellcode

HELP = "Print the completion of a shell, for its start-up file, such as ~/.bashrc."
_SHELLS = ("bash", "zsh", "fish")


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the argument."""
    parser.add_argument("shell", choices=_SHELLS, help="the shell")
    parser.set_defaults(run=_run)


def _run(flags: argparse.Namespace) -> int:
    print(shellcode(["penstock"], shell=flags.shell))
    return 0
