"""The `penstock` command: choose the command, run it, and turn errors into an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

from penstock.cli import (
    _contract,
    _errors,
    _produce,
    _read,
    _registry,
    _rejected,
    _schema,
    _submit,
)
from penstock.cli.commands import Command, add_command, load_commands
from penstock.cli.terminal import complain
from penstock.errors import PenstockError, SettingsError

_COMMANDS: Final[Mapping[str, Command]] = {
    "contract": _contract,
    "errors": _errors,
    "produce": _produce,
    "read": _read,
    "registry": _registry,
    "rejected": _rejected,
    "schema": _schema,
    "submit": _submit,
}
_EXIT_CODES = """\
exit codes:
  0  success
  1  at least one thing failed; the output says what and why
  2  wrong usage, or a setting is missing or wrong
  130  interrupted by ctrl-C
  141  the program that reads the output has ended
"""
_INTERRUPTED, _BROKEN_PIPE = 130, 141  # 128 and the number of the signal, as in a shell


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] | None = None) -> int:
    """Run one command and return its exit code."""
    settings = _parser(os.environ if environ is None else environ).parse_args(argv)
    try:
        code: int = settings.run(settings)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Python would flush what is left, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except SettingsError as error:
        complain(error)
        return 2
    except PenstockError as error:
        complain(error)
        return 1
    return code


class _Parser(argparse.ArgumentParser):
    """A parser whose help ends with the exit codes; the parsers of commands have this class too."""

    def __init__(self, *, description: str, **options: Any) -> None:
        super().__init__(
            description=textwrap.fill(description),
            epilog=_EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **options,
        )


def _parser(environ: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="penstock",
        description="Operate Penstock. AWS credentials and region come from the environment, as "
        "with the `aws` command.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in sorted({**_COMMANDS, **dict(load_commands())}.items()):
        add_command(commands, name, command, environ)
    return parser
