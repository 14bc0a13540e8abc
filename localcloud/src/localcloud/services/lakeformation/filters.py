"""Data filters: columns and rows of a table, for grants on less than the whole of it."""

from __future__ import annotations

import uuid
from typing import Any

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.identity.catalog_access import lake_of
from localcloud.identity.lake_grants import CellFilter, Resource
from localcloud.services.lakeformation.resources import (
    INVALID,
    MISSING,
    check_columns,
    find_columns,
    grants_of,
)


@operation("lakeformation", "CreateDataCellsFilter")
def create_data_cells_filter(call: Call) -> dict[str, Any]:
    """Create a filter of a table."""
    made, grants = _read_filter(call), grants_of(call)
    with grants.lock:
        if made.resource.names in grants.filters:
            name = made.resource.names[-1]
            raise AwsError("AlreadyExistsException", f"Data cells filter {name} already exists.")
        grants.filters[made.resource.names] = made
    return {}


@operation("lakeformation", "UpdateDataCellsFilter")
def update_data_cells_filter(call: Call) -> dict[str, Any]:
    """Replace the columns and the rows of a filter."""
    made, grants = _read_filter(call), grants_of(call)
    if made.resource.names not in grants.filters:
        raise _missing(made.resource.names)
    grants.filters[made.resource.names] = made
    return {}


@operation("lakeformation", "GetDataCellsFilter")
def get_data_cells_filter(call: Call) -> dict[str, Any]:
    """Describe a filter."""
    return {"DataCellsFilter": _find_filter(call).described}


@operation("lakeformation", "DeleteDataCellsFilter")
def delete_data_cells_filter(call: Call) -> dict[str, Any]:
    """Delete a filter and the grants on it."""
    _check_caller(call)
    grants_of(call).forget(*_find_filter(call).resource.names)
    return {}


@operation("lakeformation", "ListDataCellsFilter")
def list_data_cells_filter(call: Call) -> dict[str, Any]:
    """List the filters, of one table if the caller names it."""
    table = call.params.get("Table", {})
    wanted = tuple(table[name] for name in ("DatabaseName", "Name") if name in table)
    found = grants_of(call).filters
    return {
        "DataCellsFilters": [
            each.described for names, each in list(found.items()) if names[: len(wanted)] == wanted
        ]
    }


def _read_filter(call: Call) -> CellFilter:
    check_params(call, INVALID)
    _check_caller(call)
    given = call.params["TableData"]
    database, table = given["DatabaseName"], given["TableName"]
    names, wildcard = given.get("ColumnNames"), given.get("ColumnWildcard")
    if (names is None) == (wildcard is None):
        raise AwsError(INVALID, "Give a filter ColumnNames or ColumnWildcard")
    without = (wildcard or {}).get("ExcludedColumnNames", [])
    check_columns(call, database, table, [*(names or []), *without])
    rows = given.get("RowFilter", {}).get("FilterExpression")
    if rows is not None:
        _check_rows(rows, find_columns(call, database, table))
    return CellFilter(
        Resource("filter", (database, table, given["Name"])),
        Resource(
            "columns",
            (database, table),
            None if names is None else frozenset(names),
            frozenset(without),
        ),
        rows,
        {"VersionId": str(uuid.uuid4()), **given},
    )


def _check_rows(text: str, columns: list[str]) -> None:
    # The import loads DuckDB, which only callers of this need.
    from localcloud.queries.row_filters import check_condition  # noqa: PLC0415

    try:
        check_condition(text, columns)
    except ValueError as error:
        raise AwsError(INVALID, str(error)) from error


def _check_caller(call: Call) -> None:
    """Refuse a caller that does not administer the lake."""
    if not lake_of(call).administers:
        raise AwsError(
            "AccessDeniedException",
            "Insufficient Lake Formation permission(s): Required SELECT with grant option",
        )


def _find_filter(call: Call) -> CellFilter:
    names = tuple(call.params[name] for name in ("DatabaseName", "TableName", "Name"))
    found = grants_of(call).filters.get(names)
    if found is None:
        raise _missing(names)
    return found


def _missing(names: tuple[str, ...]) -> AwsError:
    return AwsError(MISSING, f"Data cells filter {names[-1]} not found.")
