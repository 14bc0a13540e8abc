"""The `penstock` command: choose the command, run it, and turn errors into an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Any, Final, NoReturn

from penstock.cli import (
    _completion,
    _config,
    _contract,
    _errors,
    _explain,
    _init,
    _jobs,
    _produce,
    _read,
    _rejected,
    _schema,
    _status,
    _submit,
)
from penstock.cli.arguments import check_needed
from penstock.cli.commands import Command, add_command, find_commands, load_command
from penstock.cli.profiles import CONFIG_FILE, Profile, add_profile, find_profile
from penstock.cli.terminal import describe_refusal, print_error, terminable
from penstock.errors import OperationError, PenstockError, SettingsError
from penstock.operations import is_error_of_aws

# By task, as the help lists them.
_TASKS: Final[Mapping[str, Mapping[str, Command]]] = {
    "set up": {"init": _init, "config": _config, "contract": _contract, "completion": _completion},
    "events and records": {"produce": _produce, "read": _read},
    "schemas": {"schema": _schema},
    "what failed": {
        "status": _status,
        "rejected": _rejected,
        "errors": _errors,
        "explain": _explain,
    },
    "jobs": {"submit": _submit, "jobs": _jobs},
}
_INSTALLED: Final = "extensions"
_EXIT_CODES = """\
exit codes:
  0  success
  1  at least one thing failed; the output says what and why
  2  wrong usage, or a setting is missing or wrong
  130  interrupted by ctrl-C
  141  the program that reads the output has ended
  143  ended by SIGTERM, with what ctrl-C does
"""
_FAILED, _WRONG_USAGE = 1, 2
# 128 and the number of the signal, as in a shell.
_INTERRUPTED, _BROKEN_PIPE, _TERMINATED = 130, 141, 143


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] | None = None) -> int:
    """Run one command and return its exit code."""
    with terminable() as is_terminated:
        code = _run(argv, environ)
    return _TERMINATED if code == _INTERRUPTED and is_terminated() else code


def _run(argv: Sequence[str] | None, environ: Mapping[str, str] | None) -> int:
    usage_code = _WRONG_USAGE
    _replace_closed()
    try:
        settings = _parse(sys.argv[1:] if argv is None else argv, environ)
        usage_code = settings.usage_code
        check_needed(settings)
        code: int = settings.run(settings)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        code = _BROKEN_PIPE
    except SettingsError as error:
        print_error(error)
        code = usage_code
    except PenstockError as error:
        print_error(error)
        code = _FAILED
    except OSError as error:
        print_error(OperationError(describe_refusal(error)))
        try:
            sys.stdout.flush()
        except OSError:  # a full disk
            _drop_output()
        code = _FAILED
    except Exception as error:
        if not is_error_of_aws(error):
            raise
        said = str(error).rstrip(".")
        remedy = "if the credentials expired, log in again"
        print_error(OperationError(f"AWS cannot be used: {said}; {remedy}"))
        code = _FAILED
    return code


def _replace_closed() -> None:
    """Replace a stdout or stderr that was closed as the process started: nothing is printed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))


def _drop_output() -> None:
    """Drop what is left to print: Python would flush it at its end, and fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """A parser whose help ends with the exit codes; the parsers of commands have this class too."""

    def __init__(self, *, description: str, **options: Any) -> None:
        super().__init__(
            description=textwrap.fill(description),
            epilog=_EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **options,
        )
        add_profile(self)

    def parse_known_args(self, *words: Any, **options: Any) -> Any:
        """Refuse what is not known, in the command itself: its help is the one to read."""
        found, unknown = super().parse_known_args(*words, **options)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse an unknown command with the most similar one that exists."""
        if action.nargs != argparse.PARSER or value in (names := list(action.choices or ())):
            super()._check_value(action, value)
            return
        near = get_close_matches(value, names, n=1)
        hint = f"did you mean {near[0]}? Expected" if near else "expected"
        self.error(f"found no command {value!r}, {hint} one of {', '.join(names)}")

    def error(self, message: str) -> NoReturn:
        """End with only the error, because the usage of some commands has twenty lines."""
        self.exit(_WRONG_USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parse(words: Sequence[str], environ: Mapping[str, str] | None) -> argparse.Namespace:
    """Return the arguments of a command, whose defaults are those of the environment and profile.

    The process's own environment gets the profile's settings, since AWS's SDK reads that.
    """
    own = dict(os.environ if environ is None else environ)
    profile = find_profile(words, own, Path.cwd() if environ is None else None)
    merged = {**profile.values, **{name: value for name, value in own.items() if value}}
    if environ is None:
        os.environ.update(merged)
    parser = _build_parser(merged, _find_name(words, own))
    parser.set_defaults(own_environ=own, used_profile=profile, usage_code=_WRONG_USAGE, needed=())
    _completion.complete(parser, own)
    found = parser.parse_args(words)
    _note_other_credentials(own, profile)
    return found


def _note_other_credentials(environ: Mapping[str, str], profile: Profile) -> None:
    """Say which variable of the environment replaces the credentials of the profile."""
    named = profile.values.get("AWS_PROFILE")
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE"):
        if named and environ.get(variable, "") not in {"", named}:
            print(
                f"penstock: the credentials are those of {variable} in the environment, and not "
                f"of {named!r}, the AWS_PROFILE of the profile {profile.name}",
                file=sys.stderr,
            )
            break


def _find_name(words: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the name of the command; it is empty where the parser needs all of them."""
    if _completion.asks(environ):
        return ""
    profile = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_profile(profile)
    rest = profile.parse_known_args(words)[1]
    return rest[0] if rest else ""


def _build_parser(environ: Mapping[str, str], name: str = "") -> argparse.ArgumentParser:
    """Return the parser of one command, else of all; an extension is imported if it is needed."""
    parser = _Parser(
        prog="penstock",
        description="Operate Penstock. Settings come from flags, from the environment, or from the "
        f"profile in {CONFIG_FILE}, in this order; AWS credentials as with the `aws` command.",
    )
    version = f"penstock {metadata.version('penstock')}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for task, known in _load_tasks(name).items():
        for each, command in known.items():
            add_command(commands, each, command, environ, is_listed=False)
        parser.description = f"{parser.description}\n\n{_list_task(task, known)}"
    return parser


def _load_tasks(name: str) -> dict[str, dict[str, Command]]:
    """Return the command with a name, else all commands, by task; installed ones come first."""
    installed = find_commands()
    if name in installed:
        return {_INSTALLED: {name: load_command(installed[name])}}
    tasks = {
        task: {each: command for each, command in known.items() if each not in installed}
        for task, known in _TASKS.items()
    }
    for task, known in tasks.items():
        if name in known:
            return {task: {name: known[name]}}
    return {**tasks, _INSTALLED: {each: load_command(point) for each, point in installed.items()}}


def _list_task(task: str, commands: Mapping[str, Command]) -> str:
    lines = [f"{task}:"]
    for name, command in commands.items():
        first, indent = f"  {name:<11} ", " " * 14
        lines.append(
            textwrap.fill(command.HELP, 79, initial_indent=first, subsequent_indent=indent)
        )
    return "\n".join(lines)
