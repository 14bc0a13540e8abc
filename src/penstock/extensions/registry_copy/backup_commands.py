"""`penstock schema export` and `import`: back up the schemas of a registry, and restore them."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from penstock.cli import Progress, print_json, print_line
from penstock.extensions.registry_copy.backups import RestoredSchema, export_schemas, import_schemas
from penstock.extensions.registry_copy.command import describe_version

_EXPORT = (
    "Write a backup of a registry: every schema with its mode, and every version with its number, "
    "id, status and definition; of Glue also checkpoint, description and tags. Glue needs the "
    "permissions glue:ListSchemas, GetSchema, GetTags, ListSchemaVersions and GetSchemaVersion."
)
_IMPORT = (
    "Restore the schemas of a backup into a Glue registry, and compare each version with the "
    "backup afterwards. Versions that exist are kept, so an import that was interrupted is "
    "continued by the next one. It needs the permissions of export, and glue:CreateSchema, "
    "RegisterSchemaVersion, UpdateSchema and TagResource."
)


@dataclass(frozen=True, slots=True)
class _BackupCommand:
    """A command below `penstock schema`, which adds the registry and the output to it."""

    HELP: str
    add_own: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]

    def add_to(self, parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
        self.add_own(parser)
        parser.set_defaults(run=self.run)


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="SCHEMA", help="schemas to write [all]")
    parser.add_argument(
        "--to", required=True, metavar="FILE", help="the path or s3:// URL of the backup"
    )
    parser.add_argument(
        "--replace", action="store_true", help="replace a backup that has other schema ids too"
    )


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the path or s3:// URL of the backup")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be done, and change nothing"
    )


def _run_export(settings: argparse.Namespace) -> int:
    with Progress(prints_lines=False) as bar:
        schemas = export_schemas(
            settings.registry,
            settings.to,
            settings.names,
            replace=settings.replace,
            report=bar.show,
        )
    if settings.output == "json":
        print_json({"file": settings.to, "schemas": schemas})
        return 0
    for each in schemas:
        print_line(f"{each.name}: {each.versions} versions")
    versions = sum(each.versions for each in schemas)
    print_line(f"wrote {settings.to}; schemas: {len(schemas)}, versions: {versions}")
    return 0


def _run_import(settings: argparse.Namespace) -> int:
    schemas = []
    with Progress(prints_lines=settings.output != "json") as bar:
        for schema in import_schemas(
            settings.registry, settings.file, dry_run=settings.dry_run, report=bar.show
        ):
            schemas.append(schema)
            if settings.output == "text":
                _say_schema(schema, settings.dry_run)
    if settings.output == "json":
        print_json({"file": settings.file, "dryRun": settings.dry_run, "schemas": schemas})
        return 0
    counts = Counter(version.action for schema in schemas for version in schema.versions)
    done = "to register" if settings.dry_run else "registered"
    end = "nothing was changed" if settings.dry_run else "each was compared with the backup"
    print_line(
        f"versions {done}: {counts['register']}, kept: {counts['keep']}, "
        f"left out: {counts['leave-out']}; {end}"
    )
    return 0


def _say_schema(schema: RestoredSchema, is_plan: bool) -> None:
    print_line(f"{schema.name}: {schema.action}, mode {schema.compatibility}")
    for version in schema.versions:
        print_line(f"  version {version.number} {describe_version(version, is_plan)}")


EXPORT: Final = _BackupCommand(_EXPORT, _add_export, _run_export)
IMPORT: Final = _BackupCommand(_IMPORT, _add_import, _run_import)
