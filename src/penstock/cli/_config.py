"""`penstock config`: show which settings commands use, and where each comes from."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from penstock.cli.arguments import add_output
from penstock.cli.profiles import CONFIG_FILE, Profile, is_setting
from penstock.cli.terminal import print_line
from penstock.cli.values import print_json

HELP = "Show the settings that other commands use, and where each value comes from."


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    commands = parser.add_subparsers(required=True, metavar="show")
    show = commands.add_parser("show", help=HELP, description=HELP)
    add_output(show)
    show.set_defaults(run=_run)


def _run(flags: argparse.Namespace) -> int:
    profile: Profile = flags.used_profile
    own = {name: value for name, value in flags.own_environ.items() if value and is_setting(name)}
    place = f"{profile.path}, profile {profile.name}" if profile.path else ""
    rows = {name: (value, place) for name, value in profile.values.items()}
    rows |= {name: (value, "environment") for name, value in own.items()}
    if flags.output == "json":
        settings = {
            name: {"value": value, "from": source} for name, (value, source) in rows.items()
        }
        print_json({"profile": profile.name or None, "file": profile.path, "settings": settings})
        return 0
    if not profile.path:
        print_line(f"found no {CONFIG_FILE} here or above; `penstock init` writes one")
    for name, (value, source) in sorted(rows.items()):
        print_line(f"{name} = {value}  ({source})")
    return 0
