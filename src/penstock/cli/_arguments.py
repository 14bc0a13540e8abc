"""Arguments that several commands take."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path


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


def add_output(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add the choice between text and JSON."""
    parser.add_argument(
        "--output", choices=("text", "json"), default="text", help=f"{meaning} [%(default)s]"
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
