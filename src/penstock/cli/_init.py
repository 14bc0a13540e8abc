"""`penstock init`: write the settings of other commands to a file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from os.path import relpath
from pathlib import Path

from penstock.cli.arguments import add_output
from penstock.cli.profiles import CONFIG_FILE, CONSUMER_ROOT, PRODUCER_ROOT, write_profiles
from penstock.cli.terminal import complain, say
from penstock.cli.values import say_json
from penstock.errors import OperationError
from penstock.operations import read_contract_profile, read_root_profiles

HELP = (
    f"Write {CONFIG_FILE} with a profile for each producer function and consumer, so that other "
    "commands need no settings. It holds no secrets."
)
_FOLDERS = {"producer": "infra/producer", "consumer": "infra/consumer"}
_ROOTS = {"producer": PRODUCER_ROOT, "consumer": CONSUMER_ROOT}


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the arguments."""
    for root, folder in _FOLDERS.items():
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
    parser.set_defaults(run=_run)


def _run(flags: argparse.Namespace) -> int:
    """Write the profiles; the default of a new file is the first one."""
    if flags.contract:
        profiles = {flags.name: read_contract_profile(flags.contract)}
    else:
        profiles = dict(_read_roots(flags))
    write_profiles(flags.to, profiles)
    if flags.output == "json":
        say_json({"file": flags.to, "profiles": sorted(profiles)})
    else:
        say(f"wrote the profiles {', '.join(sorted(profiles))} to {flags.to}")
    return 0


def _read_roots(flags: argparse.Namespace) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the profiles of the roots that were named, or of those of this folder."""
    named = {root: folder for root in _FOLDERS if (folder := getattr(flags, root))}
    found = False
    problems = []
    for root, folder in (named or {root: Path(path) for root, path in _FOLDERS.items()}).items():
        try:
            profiles = read_root_profiles(folder)
        except OperationError as error:
            if named:
                raise
            problems.append(error)
            continue
        found = True
        for name, values in profiles.items():
            yield name, {_ROOTS[root]: relpath(folder, flags.to.parent), **values}
    if not found:
        raise OperationError("; ".join(map(str, problems)))
    for problem in problems:
        complain(problem)
