"""Runs a query: its tables are loaded into its own DuckDB, which has no other access."""

from __future__ import annotations

import re

import duckdb

from localcloud.queries.query import Query, QueryFailedError, Result, ScanLimitError
from localcloud.queries.statement import Statement, locate, read_statement
from localcloud.queries.tables import Catalog
from localcloud.queries.values import name_type, write_value

_CATALOG = "awsdatacatalog"
_COLUMN = re.compile(r'Referenced column "(.+?)" not found')
# Division as in Trino; files of this machine are not accessible, and no query takes all its memory.
_SETTINGS = (
    "SET memory_limit = '1GiB'",
    "SET temp_directory = ''",
    "SET TimeZone = 'UTC'",
    "SET integer_division = true",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


def run_query(query: Query, catalog: Catalog, max_bytes: int | None) -> Result:
    """Run a query over the tables of a catalog.

    Raises:
        QueryFailedError: a table or the query is invalid.
        ScanLimitError: its tables exceed the limit.
    """
    statement = read_statement(query.sql, query.database)
    with duckdb.connect(config={"python_enable_replacements": "false"}) as connection:
        connection.execute(f"ATTACH ':memory:' AS {_CATALOG}")
        size = _load(connection, statement, query.database, catalog, max_bytes)
        for setting in _SETTINGS:
            connection.execute(setting)
        query.interrupt = connection.interrupt
        try:
            return _ask(connection, query, statement, size)
        except duckdb.Error as error:
            raise QueryFailedError(_explain(str(error), query.sql)) from error
        finally:
            query.interrupt = lambda: None  # otherwise the connection would live too long


def _load(
    connection: duckdb.DuckDBPyConnection,
    statement: Statement,
    database: str,
    catalog: Catalog,
    max_bytes: int | None,
) -> int:
    size = 0
    wanted = {(table.database, table.name): table for table in statement.tables}
    for name in {database.lower(), *(table.database for table in statement.tables)}:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_CATALOG}.{_quote(name)}")
    connection.execute(f"USE {_CATALOG}.{_quote(database.lower())}")
    for table in wanted.values():
        loaded = catalog.load(table)
        size += loaded.size
        if max_bytes is not None and size > max_bytes:
            raise ScanLimitError("Bytes scanned limit was exceeded")
        connection.register("_loaded", loaded.rows)
        target = f"{_CATALOG}.{_quote(table.database)}.{_quote(table.name)}"
        connection.execute(f"CREATE TABLE {target} AS SELECT * FROM _loaded")  # noqa: S608 - quoted
        connection.unregister("_loaded")
    return size


def _ask(
    connection: duckdb.DuckDBPyConnection, query: Query, statement: Statement, size: int
) -> Result:
    parameters: list[object] = []
    if query.parameters:  # SQL literals, as in Athena
        literals = connection.execute(f"SELECT {', '.join(query.parameters)}")
        parameters = list(literals.fetchall()[0])
    relation = connection.sql(query.sql, params=parameters or None)
    types = [name_type(str(kind)) for kind in relation.types]
    rows = relation.to_arrow_table()
    names = _name_columns(list(relation.columns), statement)
    columns = [column.to_pylist() for column in rows.columns]
    written = [tuple(map(write_value, row)) for row in zip(*columns, strict=True)]
    return Result(tuple(zip(names, types, strict=True)), written, size)


def _name_columns(names: list[str], statement: Statement) -> list[str]:
    """Name the unnamed columns by their number."""
    before, after = statement.unnamed_before_star, statement.unnamed_after_star
    unnamed = [*before, *[False] * (len(names) - len(before) - len(after)), *after]
    return [
        f"_col{at}" if is_unnamed else name.lower()
        for at, (name, is_unnamed) in enumerate(zip(names, unnamed, strict=True))
    ]


def _explain(said: str, sql: str) -> str:
    """Return an error in Athena's words, if it has an equivalent."""
    column = _COLUMN.search(said)
    if column is None:
        return said.partition("\n\nLINE ")[0]
    place = locate(sql, sql.lower().find(column[1].lower()))
    return (
        f"COLUMN_NOT_FOUND: {place}: Column '{column[1]}' cannot be resolved or requester is not "
        "authorized to access requested resources"
    )


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
