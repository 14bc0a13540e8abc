"""`penstock registry`: copy the schemas of a registry to another one."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping

from penstock.cli import Progress, add_output, print_json, print_line
from penstock.extensions.registry_copy.backups import RestoredVersion
from penstock.extensions.registry_copy.copying import (
    CopiedSchema,
    CopiedVersion,
    CopyReport,
    CopySettings,
    copy_registry,
)

HELP = "Copy the schemas of a registry to another one."
_COPY = (
    "Copy every version of every schema, in order, from one registry to another, of another kind "
    "unless both are Glue's. Each version is compared afterwards: its canonical form, and sample "
    "records that both registries and the map decode. The map is a backup of FROM, by which old "
    "records are read once FROM is gone (PENSTOCK_REGISTRY_BACKUPS). Versions that TO has are kept,"
    " so a copy that was interrupted is continued by the next one. A schema that TO cannot hold "
    "is refused by name, and the others are copied; the exit code is then 1."
)
_URL = "such as glue://NAME?region=REGION or confluent+https://HOST"
_NOTES = {
    "keep": "is there",
    "register": "is registered",
    "share": "has the definition of another version",
    "leave-out": "is left out: its registry had refused or deleted it",
}
_PLANS = _NOTES | {"register": "would be registered"}


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    commands = parser.add_subparsers(required=True, metavar="copy")
    copy = commands.add_parser("copy", help=HELP, description=_COPY)
    copy.add_argument("source", metavar="FROM", help=f"the registry to copy, {_URL}")
    copy.add_argument("target", metavar="TO", help="the registry that gets the schemas")
    copy.add_argument(
        "--map", required=True, metavar="FILE", help="the path or s3:// URL of the map"
    )
    copy.add_argument(
        "--schema", action="append", default=[], metavar="NAME", help="a schema to copy [all]"
    )
    copy.add_argument(
        "--rename",
        action="append",
        default=[],
        type=_read_names,
        metavar="NAME=NEW",
        help="another name for a schema in TO",
    )
    copy.add_argument(
        "--disabled-as",
        default="",
        metavar="MODE",
        help="the mode of schemas that are DISABLED in Glue, which other registries lack [refuse]",
    )
    copy.add_argument(
        "--accept-history",
        action="store_true",
        help="register versions that the schema's mode refuses under the mode NONE [refuse]",
    )
    copy.add_argument(
        "--dry-run", action="store_true", help="print what would be done, and change nothing"
    )
    copy.add_argument(
        "--replace", action="store_true", help="replace a map that has other schema ids too"
    )
    add_output(copy)
    copy.set_defaults(run=_run_copy)


def _run_copy(flags: argparse.Namespace) -> int:
    """Print the report; return 1 unless every version is copied and reads alike."""
    settings = CopySettings(
        flags.source,
        flags.target,
        flags.map,
        flags.schema,
        dict(flags.rename),
        flags.disabled_as,
        flags.accept_history,
        flags.dry_run,
        flags.replace,
    )
    with Progress(prints_lines=flags.output != "json") as bar:

        def show(schema: CopiedSchema) -> None:
            if flags.output == "text":
                _say_schema(schema, flags.dry_run)

        result = copy_registry(settings, show, bar.show)
    if flags.output == "json":
        print_json(
            {
                "mapFile": result.map_file,
                "mapWritten": result.map_written,
                "schemas": result.schemas,
                "complete": result.is_complete,
                "unchanged": result.is_unchanged,
                "dryRun": flags.dry_run,
            }
        )
    else:
        _say_end(result, flags.dry_run)
    return 0 if result.is_complete else 1


def _read_names(text: str) -> tuple[str, str]:
    old, _, new = text.partition("=")
    if not (old and new):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected NAME=NEW")
    return old, new


def _say_schema(schema: CopiedSchema, is_plan: bool) -> None:
    name = schema.name
    if schema.new_name not in {"", schema.name}:
        name += f" as {schema.new_name}"
    mode = f", mode {schema.compatibility}" if schema.compatibility else ""
    print_line(f"{name}: {schema.action}{mode}")
    for version in schema.versions:
        print_line(f"  version {version.number} {_describe_copied(version, is_plan)}")
    for note in schema.notes:
        print_line(f"  {note}")
    for problem in schema.problems:
        print_line(f"  PROBLEM {problem}")


def _describe_copied(version: CopiedVersion, is_plan: bool) -> str:
    if version.action == "leave-out":
        return f"is left out: its status is {version.status}; the map has it"
    return describe_version(version, is_plan) + (f"; {version.note}" if version.note else "")


def describe_version(version: CopiedVersion | RestoredVersion, is_plan: bool) -> str:
    """Return what is done with a version, and its number and id in the registry that gets it."""
    place = "" if version.new_number in {None, version.number} else f" as {version.new_number}"
    ids = f", {version.id} -> {version.new_id}" if version.new_id else ""
    return f"{(_PLANS if is_plan else _NOTES)[version.action]}{place}{ids}"


def _say_end(report: CopyReport, is_plan: bool) -> None:
    versions = [version for schema in report.schemas for version in schema.versions]
    counts = Counter(version.action for version in versions)
    refused = sum(bool(schema.problems) for schema in report.schemas)
    print_line(
        f"versions {'to register' if is_plan else 'registered'}: {counts['register']}, "
        f"kept: {counts['keep']}, shared: {counts['share']}, left out: {counts['leave-out']}; "
        f"schemas with problems: {refused}"
    )
    if is_plan:
        print_line("nothing was changed")
        return
    samples = sum(version.samples for version in versions)
    compared = sum(version.samples > 0 for version in versions)
    print_line(f"compared: {compared} versions, {samples} sample records")
    if report.is_unchanged:
        print_line("nothing had to be changed")
    print_line(f"map: {report.map_file}")
