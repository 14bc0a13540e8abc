"""`penstock schema`: look at the schemas of a registry, and check or register a new one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.cli.arguments import add_from_environ, add_output, expect_count
from penstock.cli.commands import add_installed
from penstock.cli.terminal import Progress, print_line
from penstock.cli.values import describe_value, print_json
from penstock.operations import (
    check_candidate,
    compare_versions,
    list_schemas,
    read_text,
    read_version,
    read_versions,
    register_schema,
)
from penstock.registry import StoredVersion

HELP = "Look at the schemas of a registry, check a new one, or register it."
_REGISTRY = "PENSTOCK_REGISTRY"
_URL = "the registry, such as glue://NAME?region=REGION or confluent+https://HOST"
_LIST = "List the schemas of a registry."
_VERSIONS = "List all versions of a schema: number, id, status, and when they were registered."
_SHOW = "Print the definition of a version."
_DIFF = "Compare two versions of a schema: the changes, and which reads the records of the other."
_CHECK = (
    "Check whether a schema would accept a definition, by which rule, and whom it would affect. "
    "Nothing is registered."
)
_REGISTER = "Register a definition as the newest version of a schema, unless the schema has it."


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the commands and their arguments."""
    commands = parser.add_subparsers(required=True)
    listing = commands.add_parser("list", help=_LIST, description=_LIST)
    listing.set_defaults(run=_run_list)
    versions = commands.add_parser("versions", help=_VERSIONS, description=_VERSIONS)
    versions.set_defaults(run=_run_versions)
    show = commands.add_parser("show", help=_SHOW, description=_SHOW)
    show.set_defaults(run=_run_show)
    diff = commands.add_parser("diff", help=_DIFF, description=_DIFF)
    diff.set_defaults(run=_run_diff)
    check = commands.add_parser("check", help=_CHECK, description=_CHECK)
    check.set_defaults(run=_run_check)
    register = commands.add_parser("register", help=_REGISTER, description=_REGISTER)
    register.set_defaults(run=_run_register)
    for command in (versions, show, diff, check, register):
        command.add_argument("schema", metavar="SCHEMA", help="the name of the schema")
    show.add_argument(
        "--version", type=expect_count(), metavar="N", help="its number [the newest accepted]"
    )
    for which in ("before", "after"):
        diff.add_argument(which, type=expect_count(), metavar="N", help="the number of a version")
    for command in (check, register):
        command.add_argument(
            "file", type=Path, metavar="FILE", help="a file with an Avro definition"
        )
    others = add_installed(commands, environ, "schema")
    commands.metavar = "|".join(commands.choices)
    own = (listing, versions, show, diff, check, register)
    first = {_REGISTRY: next(iter(environ.get(_REGISTRY, "").split()), "")}
    for command in own:
        add_from_environ(command, "--registry", _REGISTRY, f"{_URL}; of several the first", first)
    for command in others:
        add_from_environ(command, "--registry", _REGISTRY, _URL, environ)
    for command in (*own, *others):
        add_output(command)


def _run_list(settings: argparse.Namespace) -> int:
    with Progress(prints_lines=False) as bar:
        bar.show("schemas are listed")
        names = list_schemas(settings.registry)
    if settings.output == "json":
        print_json({"schemas": names})
    else:
        for name in names:
            print_line(name)
    return 0


def _run_versions(settings: argparse.Namespace) -> int:
    with Progress(prints_lines=False) as bar:
        schema = read_versions(settings.registry, settings.schema, bar.show)
    if settings.output == "json":
        print_json(
            {
                "schema": schema.name,
                "mode": schema.compatibility,
                "checkpoint": schema.checkpoint or None,
                "versions": [_describe_version(version) for version in schema.versions],
            }
        )
        return 0
    compares = f", checkpoint {schema.checkpoint}" if schema.checkpoint else ""
    print_line(f"{schema.name}: mode {schema.compatibility}{compares}")
    for version in schema.versions:
        when = version.registered_at
        registered = f", registered {when:%Y-%m-%dT%H:%M:%SZ}" if when else ""
        print_line(f"  version {version.number}: {version.id}, {version.status}{registered}")
    return 0


def _run_show(settings: argparse.Namespace) -> int:
    with Progress(prints_lines=False) as bar:
        version = read_version(settings.registry, settings.schema, settings.version, bar.show)
    if settings.output == "json":
        described = {"schema": settings.schema, **_describe_version(version)}
        print_json(described | {"definition": version.definition})
        return 0
    try:
        text = json.dumps(json.loads(version.definition), indent=2)
    except ValueError:  # of a registry's other formats, such as Protobuf
        text = version.definition
    for line in text.splitlines():
        print_line(line)
    return 0


def _run_diff(settings: argparse.Namespace) -> int:
    with Progress(prints_lines=False) as bar:
        found = compare_versions(
            settings.registry, settings.schema, settings.before, settings.after, bar.show
        )
    old, new = found.before.number, found.after.number
    if settings.output == "json":
        print_json(
            {
                "schema": settings.schema,
                "before": _describe_version(found.before),
                "after": _describe_version(found.after),
                "changes": found.diff.changes,
                "afterReadsBefore": not found.after_reads_before,
                "beforeReadsAfter": not found.before_reads_after,
                "afterReadsBeforeProblems": found.after_reads_before,
                "beforeReadsAfterProblems": found.before_reads_after,
            }
        )
        return 0
    for line in str(found.diff).splitlines():
        print_line(line)
    _say_reading(new, old, found.after_reads_before)
    _say_reading(old, new, found.before_reads_after)
    return 0


def _say_reading(reader: int, writer: int, problems: Sequence[str]) -> None:
    can = "cannot read" if problems else "reads"
    print_line(f"version {reader} {can} records of version {writer}")
    for problem in problems:
        print_line(f"  {problem}")


def _run_check(settings: argparse.Namespace) -> int:
    """Print the verdict; return 1 if the schema would be rejected."""
    definition = read_text(settings.file)
    with Progress(prints_lines=False) as bar:
        found = check_candidate(settings.registry, settings.schema, definition, bar.show)
    if settings.output == "json":
        described = {"schema": settings.schema, "accepted": not found.problems}
        print_json(described | describe_value(found))
        return 1 if found.problems else 0
    if found.problems:
        print_line(f"{settings.schema} would reject it")
    elif found.number is not None:
        print_line(f"{settings.schema} has it as version {found.number}")
    else:
        print_line(f"{settings.schema} would accept it by its mode {found.compatibility}")
    for problem in found.problems:
        print_line(f"  {problem}")
    for numbers, effect in (
        (found.readers, "with version {} cannot read its records"),
        (found.records, "with it cannot read records of version {}"),
    ):
        if numbers:
            print_line("programs that read " + effect.format(", ".join(map(str, numbers))))
    return 1 if found.problems else 0


def _run_register(settings: argparse.Namespace) -> int:
    definition = read_text(settings.file)
    with Progress(prints_lines=False) as bar:
        bar.show("versions are read, and the definition is registered")
        found = register_schema(settings.registry, settings.schema, definition)
    if settings.output == "json":
        print_json({"schema": settings.schema, **describe_value(found)})
    else:
        done = "registered" if found.created else "has"
        print_line(f"{settings.schema}: {done} version {found.number}, {found.id}")
    return 0


def _describe_version(version: StoredVersion) -> dict[str, Any]:
    return {
        "number": version.number,
        "id": version.id,
        "status": version.status,
        "registeredAt": version.registered_at,
    }
