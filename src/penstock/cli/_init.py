"""`penstock init`: write the settings of other commands to a file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from functools import partial
from os.path import relpath
from pathlib import Path

from penstock.cli.arguments import add_output, find_root
from penstock.cli.profiles import CONFIG_FILE, ROOTS, write_profiles
from penstock.cli.terminal import print_error, print_line
from penstock.cli.values import print_json
from penstock.errors import OperationError
from penstock.operations import read_contract_profile, read_root_profiles

HELP = (
    f"Write {CONFIG_FILE} with a profile for each producer function and consumer, so that other "
    "commands need no settings. It holds no secrets."
)


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    for root in ROOTS:
        folder = find_root(root, environ)
        parser.add_argument(
            f"--{root}",
            type=Path,
            metavar="FOLDER",
            help=f"the {root}'s Terraform root [{folder}, if it was applied]",
        )
    parser.add_argument(
        "--contract", type=Path, metavar="FILE", help="a contract, in place of Terraform roots"
    )
    parser.add_argument(
        "--name", default="consumer", help="the profile of the contract [%(default)s]"
    )
    parser.add_argument(
        "--to", type=Path, default=Path(CONFIG_FILE), metavar="FILE", help="the file [%(default)s]"
    )
    add_output(parser)
    parser.set_defaults(run=partial(_run, environ))


def _run(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    """Write the profiles; the default of a new file is the first one."""
    if flags.contract:
        profiles = {flags.name: read_contract_profile(flags.contract)}
    else:
        profiles = dict(_read_roots(flags, environ))
    write_profiles(flags.to, profiles)
    if flags.output == "json":
        print_json({"file": flags.to, "profiles": sorted(profiles)})
    else:
        print_line(f"wrote the profiles {', '.join(sorted(profiles))} to {flags.to}")
    return 0


def _read_roots(
    flags: argparse.Namespace, environ: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the profiles of the roots that were named, or of those of this folder."""
    named = {root: folder for root in ROOTS if (folder := getattr(flags, root))}
    found = False
    problems = []
    for root, folder in (named or {root: find_root(root, environ) for root in ROOTS}).items():
        try:
            profiles = read_root_profiles(folder)
        except OperationError as error:
            if named:
                raise
            problems.append(error)
            continue
        found = True
        for name, values in profiles.items():
            yield name, {ROOTS[root]: relpath(folder, flags.to.parent), **values}
    if not found:
        raise OperationError("; ".join(map(str, problems)))
    for problem in problems:
        print_error(problem)
