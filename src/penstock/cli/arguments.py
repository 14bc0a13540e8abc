"""Arguments that several commands take."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NoReturn


def add_from_environ(
    parser: argparse.ArgumentParser,
    flag: str,
    variable: str,
    meaning: str,
    environ: Mapping[str, str],
) -> None:
    """Add a flag that is required unless its variable is set."""
    default = environ.get(variable, "")
    parser.add_argument(
        flag, default=default, required=not default, help=f"{meaning} [the variable {variable}]"
    )


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


def add_consumer(parser: argparse.ArgumentParser) -> None:
    """Add the folder of a consumer's Terraform root."""
    parser.add_argument(
        "--consumer",
        type=Path,
        default=Path("infra/consumer"),
        metavar="FOLDER",
        help="the consumer's Terraform root [%(default)s]",
    )


def use_answer_codes(parser: argparse.ArgumentParser, codes: str) -> None:
    """Let wrong usage of a command end with 1: to a script, 2 is an answer of the command."""
    parser.epilog = codes
    parser.error = partial(_fail, parser)  # type: ignore[method-assign]


def _fail(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    parser.print_usage(sys.stderr)
    parser.exit(1, f"{parser.prog}: error: {message}\n")
