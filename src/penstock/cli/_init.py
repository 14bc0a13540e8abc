"""`penstock init`: write the settings of other commands to a file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from functools import partial
from os.path import relpath
from pathlib import Path
from typing import Final

from penstock.cli.arguments import add_output, find_root
from penstock.cli.profiles import CONFIG_FILE, ROOTS, find_path, read_profiles, write_profiles
from penstock.cli.terminal import print_error, print_line
from penstock.cli.values import print_json
from penstock.errors import OperationError
from penstock.operations import read_contract_profile, read_root_profiles

HELP = (
    f"Write {CONFIG_FILE} with a profile for each producer function and consumer, so that other "
    "commands need no settings. It holds no secrets."
)
_LOGIN: Final = ("AWS_CONFIG_FILE", "AWS_ENDPOINT_URL", "AWS_PROFILE")

Profiles = Mapping[str, Mapping[str, str]]


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    for root in ROOTS:
        folder = find_root(root, environ)
        parser.add_argument(
            f"--{root}",
            type=Path,
            metavar="FOLDER",
            help=f"the {root}'s Terraform root [that of a profile in the file, or {folder}]",
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
    """Write the profiles, and return 1 if a root cannot be read.

    A profile keeps what its source does not have. The default of a new file is the first profile.
    """
    old = read_profiles(flags.to)
    problems: list[OperationError] = []
    if flags.contract:
        found = {flags.name: read_contract_profile(flags.contract)}
    else:
        found = dict(_read_roots(_choose_roots(flags, environ, old), flags.to, old, problems))
    if not found:
        raise OperationError("; ".join(map(str, problems)))
    write_profiles(flags.to, {name: {**old.get(name, {}), **found[name]} for name in found})
    if flags.output == "json":
        print_json({"file": flags.to, "profiles": sorted(found)})
    else:
        print_line(f"wrote the profiles {', '.join(sorted(found))} to {flags.to}")
    for problem in problems:
        print_error(problem)
    return 1 if problems else 0


def _choose_roots(
    flags: argparse.Namespace, environ: Mapping[str, str], old: Profiles
) -> dict[str, Path]:
    """Return the roots that were named, or else those of the environment, the file or the clone."""
    if named := {root: folder for root in ROOTS if (folder := getattr(flags, root))}:
        return named
    known = {
        variable: find_path(flags.to, values[variable])
        for values in old.values()
        for variable in ROOTS.values()
        if variable in values
    }
    return {root: find_root(root, {**known, **environ}) for root in ROOTS}


def _read_roots(
    roots: Mapping[str, Path], file: Path, old: Profiles, problems: list[OperationError]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the profiles of the roots, and add to the problems why a root cannot be read."""
    for root, folder in roots.items():
        try:
            profiles = read_root_profiles(folder)
        except OperationError as error:
            problems.append(error)
            continue
        own = {ROOTS[root]: relpath(folder, file.parent)}
        login = _find_login(old, ROOTS[root], folder, file)
        for name, values in profiles.items():
            given = {} if name in old else login
            yield name, {**given, **own, **values}


def _find_login(old: Profiles, variable: str, folder: Path, file: Path) -> dict[str, str]:
    """Return where the profiles of a root take AWS credentials from, if they agree."""
    ways = [
        {name: values[name] for name in _LOGIN if name in values}
        for values in old.values()
        if variable in values and _is_same(Path(find_path(file, values[variable])), folder)
    ]
    return ways[0] if ways and all(way == ways[0] for way in ways) else {}


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
