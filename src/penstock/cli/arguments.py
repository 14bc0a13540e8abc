"""Arguments that several commands take."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from penstock.cli.profiles import ROOTS
from penstock.errors import SettingsError
from penstock.settings import parse_count

# How to run a shell command, the last argument, on a host that reaches the brokers.
HOST_COMMAND: Final = "PENSTOCK_HOST_COMMAND"


@dataclass(frozen=True, slots=True)
class Needed:
    """A flag without which a command does not run, and the problem if it is missing."""

    name: str
    problem: str


def add_from_environ(
    parser: argparse.ArgumentParser,
    flag: str,
    variable: str,
    meaning: str,
    environ: Mapping[str, str],
) -> None:
    """Add a flag that is required unless its variable is set, or the parser has a default."""
    name = flag.removeprefix("--").replace("-", "_")
    if parser.get_default(name) is None:
        needed = Needed(name, f"{variable} ({flag}) is missing, expected {meaning}")
        parser.set_defaults(needed=(*(parser.get_default("needed") or ()), needed))
    default = environ.get(variable, "")
    parser.add_argument(flag, default=default, help=f"{meaning} [the variable {variable}]")


def check_needed(flags: argparse.Namespace) -> None:
    """Check the flags of `add_from_environ`.

    Raises:
        SettingsError: some have no value; it names them all.
    """
    needed: Sequence[Needed] = flags.needed
    if missing := [each.problem for each in needed if not getattr(flags, each.name)]:
        raise SettingsError(missing)


def add_output(parser: argparse.ArgumentParser, lines: str = "an object in one line") -> None:
    """Add the choice between text and JSON, which every command has.

    Args:
        parser: the command's parser.
        lines: what is a JSON object in a line of its own.
    """
    parser.add_argument(
        "--output",
        choices=("text", "json"),
        default="text",
        help=f"json prints {lines} [%(default)s]",
    )


def add_outputs(parser: argparse.ArgumentParser, meaning: str, metavar: str = "FILE") -> None:
    """Add the files of what `terraform output -json` of roots prints."""
    parser.add_argument(
        "--outputs", type=Path, action="append", default=[], metavar=metavar, help=meaning
    )


def find_root(root: str, environ: Mapping[str, str]) -> Path:
    """Return the folder of a Terraform root, which is `producer` or `consumer`."""
    return Path(environ.get(ROOTS[root]) or f"infra/{root}")


def add_root(parser: argparse.ArgumentParser, root: str, environ: Mapping[str, str]) -> None:
    """Add the folder of a Terraform root."""
    parser.add_argument(
        f"--{root}",
        type=Path,
        default=find_root(root, environ),
        metavar="FOLDER",
        help=f"the {root}'s Terraform root [%(default)s, the variable {ROOTS[root]}]",
    )


def use_answer_codes(parser: argparse.ArgumentParser, codes: str) -> None:
    """Let wrong usage or settings of a command end with 1: to a script, 2 is an answer of it."""
    parser.epilog = codes
    parser.set_defaults(usage_code=1)
    parser.error = partial(_fail, parser)  # type: ignore[method-assign]


def expect(parse: Callable[[str], Any], expected: str) -> Callable[[str], Any]:
    """Return a parser of an argument whose error says what was found, and what is expected.

    Args:
        parse: converts the text; it raises ValueError if the text is not valid.
        expected: what a valid text is, such as "a number above 0".
    """

    def parse_argument(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"found {text!r}, expected {expected}") from error

    return parse_argument


def expect_count(least: int = 1) -> Callable[[str], Any]:
    """Return a parser of whole numbers."""
    return expect(partial(parse_count, least=least), f"a whole number of at least {least}")


def _fail(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    parser.exit(1, f"{parser.prog}: {message}; see {parser.prog} --help\n")
