"""Drift: the differences between tables and the schema versions of their records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from penstock.errors import OperationError, SchemaConflictError, SettingsError
from penstock.extensions.drift.differences import Difference
from penstock.progress import ReportProgress, ignore_progress
from penstock.registry import SchemaVersion, load_registry
from penstock.schemas import Schema, merge_schemas
from penstock.settings import Settings, setting
from penstock.tables import TABLE, Struct, parse_route, read_event

if TYPE_CHECKING:
    from penstock.extensions.drift.inspection import Inspection, SyncedTable, TableTarget

_NAMES: Final = ("lake_table", "parquet_table", "dynamodb_table")
_CONFLICT: Final = (
    "records of this version are dead letters: register a version that agrees with the others"
)


@dataclass(frozen=True, slots=True)
class TableSettings(Settings):
    """The tables to compare, by the settings that name the sinks of a job."""

    lake_table: str = setting(
        "PENSTOCK_LAKE_TABLE", "Iceberg table for the rows, as DATABASE.TABLE", default=""
    )
    parquet_table: str = setting(
        "PENSTOCK_PARQUET_TABLE",
        "Glue table of plain Parquet files, as DATABASE.TABLE",
        default="",
    )
    dynamodb_table: str = setting(
        "PENSTOCK_READINGS_TABLE", "DynamoDB table for the rows", default=""
    )
    route: tuple[tuple[str, str], ...] = setting(
        "PENSTOCK_ROUTE",
        "schema-name=table, separated by commas: records of a schema are in the tables whose names"
        f" have that table in place of {TABLE}",
        parse=parse_route,
        default=(),
    )

    def problems(self) -> Iterator[str]:
        """Yield a problem if no table is named, or if a name does not suit the route."""
        if not any(getattr(self, name) for name in _NAMES):
            yield "found no table, expected --lake-table, --parquet-table or --dynamodb-table"
        for name in _NAMES:
            flag, value = f"--{name.replace('_', '-')}", getattr(self, name)
            if value and self.route == () and TABLE in value:
                yield f"{flag} is {value!r}, expected --route to say what {TABLE} is"
            elif value and self.route and TABLE not in value:
                yield f"{flag} is {value!r}, expected {TABLE} in it, for --route to fill in"
            elif value and name != "dynamodb_table" and value.count(".") != 1:
                yield f"{flag} is {value!r}, expected DATABASE.TABLE"

    def split_by_route(self, schemas: Sequence[str]) -> list[tuple[Sequence[str], TableSettings]]:
        """Return pairs of schema names and the tables that hold the records of these schemas.

        Raises:
            SettingsError: both `schemas` and the route name schemas, or none of them does.
        """
        if not self.route:
            if not schemas:
                raise SettingsError(["found no schema, expected names of schemas or --route"])
            return [(schemas, self)]
        if schemas:
            raise SettingsError(["found schemas and --route, expected one of them"])
        return [
            (
                [name],
                replace(
                    self,
                    route=(),
                    **{each: getattr(self, each).replace(TABLE, table) for each in _NAMES},
                ),
            )
            for name, table in self.route
        ]


def _parse_tables(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the names of schemas by table, from JSON such as {"DATABASE.TABLE": ["NAME"]}."""
    found = json.loads(text)
    if not isinstance(found, dict) or not all(map(_is_entry, found.items())):
        raise ValueError(text)
    return {table: tuple(names) for table, names in found.items()}


def _is_entry(entry: tuple[str, object]) -> bool:
    table, names = entry
    is_list = isinstance(names, list) and all(isinstance(each, str) for each in names)
    return table.count(".") == 1 and is_list and bool(names)


@dataclass(frozen=True, slots=True)
class SyncSettings(Settings):
    """The tables to which the scheduled function adds columns, and the registries to read."""

    registry: str = setting(
        "PENSTOCK_REGISTRY",
        "URLs of the schema registries, separated by spaces",
        secret=True,  # it may contain an external id
    )
    tables: Mapping[str, tuple[str, ...]] = setting(
        "PENSTOCK_SYNC_TABLES",
        "a JSON object: for each table DATABASE.TABLE the names of the schemas whose records it "
        'holds, such as {"lake.readings": ["sensor"]}; the function also takes its s3:// URL',
        parse=_parse_tables,
    )


def find_drift(  # noqa: PLR0913 - tables, schemas and limits
    url: str,
    schemas: Sequence[str],
    settings: TableSettings,
    files: int,
    rows: int,
    *,
    report: ReportProgress = ignore_progress,
) -> Inspection:
    """Compare tables with all versions of the schemas that reach them.

    Args:
        url: the URLs of the registries, separated by spaces.
        schemas: the names of the schemas whose records the tables hold; empty with a route.
        settings: the tables.
        files: the largest number of Parquet files whose footers are read.
        rows: the largest number of rows that are read from a DynamoDB table.
        report: called with the numbers of schemas, tables and footers that were read.

    Raises:
        SettingsError: the URL is not that of a registry, or schemas or tables are not named.
        OperationError: a schema has no usable version, a table cannot be read, or a package of the
            extra `lake` is missing.
        RegistryError, SinkError: AWS or the registry denies a call, or does not answer.
    """
    with _explain_missing_extra():
        from penstock.extensions.drift.inspection import Limits, inspect_tables  # noqa: PLC0415

        targets, conflicts = _read_targets(url, schemas, settings, report)
        found = inspect_tables(targets, Limits(files, rows), report=report)
    return replace(found, differences=(*conflicts, *found.differences))


def sync_lake(  # noqa: PLR0913 - tables, schemas and who is told
    url: str,
    schemas: Sequence[str],
    settings: TableSettings,
    *,
    apply: bool,
    report: ReportProgress = ignore_progress,
    tell: Callable[[SyncedTable], None] = lambda _: None,
) -> tuple[SyncedTable, ...]:
    """Return the changes that make tables of the Glue catalog fit all versions of their schemas.

    If `apply` is true, the tables are changed. Versions that contradict each other are returned as
    differences of a table named `registry`. `report` is called with the number of schemas that were
    read, and with the number of tables that are done; `tell` with each of them.

    Raises:
        SettingsError, OperationError, RegistryError, SinkError: see `find_drift`.
    """
    with _explain_missing_extra():
        from penstock.extensions.drift.inspection import SyncedTable, sync_tables  # noqa: PLC0415

        if not settings.lake_table and not settings.parquet_table:
            raise SettingsError(
                ["found no table of the Glue catalog, expected --lake-table or --parquet-table"]
            )
        targets, conflicts = _read_targets(url, schemas, settings, report)
        refused = [SyncedTable("registry", (), tuple(conflicts))] if conflicts else []
        for each in refused:
            tell(each)
        return (*refused, *sync_tables(targets, apply=apply, report=report, tell=tell))


@contextmanager
def _explain_missing_extra() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or str(error)).partition(".")[0]
        raise OperationError(
            f"found no package {package}, expected the extra lake: pip install '.[lake]' in a clone"
        ) from error


def _read_targets(
    url: str, schemas: Sequence[str], settings: TableSettings, report: ReportProgress
) -> tuple[list[TableTarget], list[Difference]]:
    from penstock.extensions.drift.inspection import TableTarget  # noqa: PLC0415

    registries = [load_registry(each) for each in url.split() or [""]]
    targets, conflicts = [], []
    wanted = settings.split_by_route(schemas)
    done, total = 0, sum(len(names) for names, _ in wanted)
    report("schemas", 0, total)
    for names, tables in wanted:
        versions: list[SchemaVersion] = []
        for name in names:
            for registry in registries:
                versions += registry.versions(name)
            report("schemas", done := done + 1, total)
        if missing := set(names) - {version.name for version in versions}:
            raise OperationError(
                f"schema {sorted(missing)[0]} has no usable version, expected at least one"
            )
        event, contradictions = _merge_versions(versions)
        conflicts += contradictions
        lake = tuple(name for name in (tables.lake_table, tables.parquet_table) if name)
        rows = (tables.dynamodb_table,) if tables.dynamodb_table else ()
        targets.append(TableTarget(event, lake, rows))
    return targets, conflicts


def _merge_versions(versions: Sequence[SchemaVersion]) -> tuple[Struct, list[Difference]]:
    """Return the fields of all versions, and a difference for each contradicting version."""
    try:
        return read_event(merge_schemas([each.schema for each in versions])), []
    except SchemaConflictError:
        pass
    conflicts = []
    merged: Schema | None = None
    event = Struct()
    for version in versions:
        known = [] if merged is None else [merged]
        try:
            grown = merge_schemas([*known, version.schema])
            event = read_event(grown)
            merged = grown
        except SchemaConflictError as error:
            place = f"registry {version.name} version {version.number}"
            wanted = "a type that agrees with the versions before it"
            conflicts.append(Difference(place, error.path, str(error), wanted, _CONFLICT))
    return event, conflicts
