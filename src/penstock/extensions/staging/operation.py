"""Configurations of staging jobs: check one, and say what would be made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.extensions.staging.configuration import load_configuration
from penstock.extensions.staging.plan import Role, StagedTable


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """A table that a staging job writes; a final table has no topics.

    `columns` is None if all fields become columns, `renames` are those that are named.
    """

    name: str
    role: str
    topics: tuple[str, ...]
    sinks: tuple[str, ...]
    key: str
    sort: str | None
    fields: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, str] | None
    needs: tuple[str, ...] = ()
    final: str | None = None


def check_staging(where: str, environ: Mapping[str, str]) -> tuple[PlannedTable, ...]:
    """Read the configuration at a path or s3:// URL, and return the tables that would be made.

    Raises:
        SettingsError: the file cannot be read, or is wrong; it lists every problem.
        SinkAccessDeniedError, SinkUnavailableError: S3 denies the object, or does not answer.
    """
    tables = load_configuration(where, environ).plan.tables
    finals = [_describe_final(each) for each in tables if each.role is Role.DRIVER]
    return (*map(_make_planned_table, tables), *finals)


def _make_planned_table(table: StagedTable) -> PlannedTable:
    shape = table.shape
    fields = {"key": shape.key, "sort": shape.sort, "order": shape.order}
    return PlannedTable(
        table.name,
        str(table.role),
        (*table.topics, *([table.pattern] if table.pattern else [])),
        tuple(sorted(map(str, table.sinks))),
        shape.key_attribute,
        shape.sort_name,
        {name: named for name, named in fields.items() if named},
        table.columns.columns(table.columns.fields) if table.columns.fields else None,
        tuple(
            f"{each.name}: the row of {each.table} whose "
            + " and ".join(f"{field} is {column}" for field, column in each.key)
            + (" (optional)" if each.optional else "")
            for each in table.dependencies
        ),
        table.final,
    )


def _describe_final(driver: StagedTable) -> PlannedTable:
    shape = driver.shape
    final = driver.final or ""
    return PlannedTable(
        final, "final", (), ("dynamodb",), shape.key_attribute, shape.sort_name, {}, None
    )
