"""`penstock completion`: print what makes a shell complete commands and flags."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

HELP = "Print the completion of a shell, for its start-up file, such as ~/.bashrc."
_SHELLS = ("bash", "zsh", "fish")
_ASKS = "_ARGCOMPLETE"  # the variable by which the shell's function asks


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.add_argument("shell", choices=_SHELLS, help="the shell")
    parser.set_defaults(run=_run)


def asks(environ: Mapping[str, str]) -> bool:
    """Say whether a shell asks how a command may go on."""
    return _ASKS in environ


def complete(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Answer a shell that asks how a command may go on; other calls load nothing for it."""
    if asks(environ):
        import argcomplete  # noqa: PLC0415

        argcomplete.autocomplete(parser)


def _run(flags: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode  # noqa: PLC0415

    print(shellcode(["penstock"], shell=flags.shell))
    return 0
