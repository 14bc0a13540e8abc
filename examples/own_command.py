"""A command of your own: `penstock newest` prints the newest version of each schema of a registry.

Installed in a package, with this entry point, it stands beside the other commands:

    [project.entry-points."penstock.commands"]
    newest = "own_command"

A name such as `schema.newest` makes it a command below `penstock schema`, which has `--registry`
and `--output` already.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from functools import partial

from penstock.cli import add_output, print_line
from penstock.errors import SettingsError
from penstock.operations import list_schemas, read_versions

HELP = "Print the newest version of each schema of a registry."


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the arguments, and the function that runs."""
    parser.add_argument("--registry", metavar="URL", help="[the variable PENSTOCK_REGISTRY]")
    add_output(parser, "json prints an object by schema")
    parser.set_defaults(run=partial(_run, environ))


def _run(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    url = flags.registry or environ.get("PENSTOCK_REGISTRY")
    if not url:
        raise SettingsError(["--registry is missing, expected the URL of a registry"])
    newest = {name: read_versions(url, name).versions[-1].number for name in list_schemas(url)}
    if flags.output == "json":
        print(json.dumps(newest))
        return 0
    for name, number in newest.items():
        print_line(f"{name} {number}")
    return 0
