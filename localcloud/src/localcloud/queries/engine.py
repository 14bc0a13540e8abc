"""Runs a statement: its tables are loaded into its own DuckDB, which has no other access."""

from __future__ import annotations

import re

import duckdb

from localcloud.queries.new_tables import Selection, create_table, create_view, drop
from localcloud.queries.query import Query, QueryFailedError, Result, ScanLimitError, StatementKind
from localcloud.queries.statement import Statement, StatementError, TableName, read_statement
from localcloud.queries.tables import Catalog
from localcloud.queries.translation import CATALOG, find_name, name_schema, translate
from localcloud.queries.values import name_type, write_value
from localcloud.queries.views import View

_MOST_VIEWS = 16  # of views in views
# Division as in Trino; files of this machine are not accessible, and no query takes all its memory.
_SETTINGS = (
    "SET memory_limit = '1GiB'",
    "SET temp_directory = ''",
    "SET TimeZone = 'UTC'",
    "SET integer_division = true",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
# What DuckDB says of a query, and Athena's class and words; {place} is that of the name.
_EXPLAINED = (
    (
        r'Referenced (?:column|table) "(?P<name>.+?)" (?:was )?not found',
        "COLUMN_NOT_FOUND: {place}: Column '{name}' cannot be resolved or requester is not "
        "authorized to access requested resources",
    ),
    (
        r'Ambiguous reference to column name "(?P<name>.+?)"',
        "AMBIGUOUS_NAME: {place}: Column '{name}' is ambiguous",
    ),
    (
        r'column "(?P<name>.+?)" must appear in the GROUP BY',
        "EXPRESSION_NOT_AGGREGATE: {place}: '{name}' must be an aggregate expression or appear in "
        "GROUP BY clause",
    ),
    (
        r"Cannot (?:compare|mix) values of type (?P<a>.+?) and (?:type )?(?P<b>.+?)(?: in .*)? -",
        "TYPE_MISMATCH: Cannot apply operator: {a} = {b}",
    ),
    (
        r"Could not convert string '(?P<value>.*)' to (?P<kind>\w+)",
        "INVALID_CAST_ARGUMENT: Cannot cast '{value}' to {kind}",
    ),
    (
        r"Cannot extract field '.+?' from expression \"(?P<name>.+?)\"",
        "TYPE_MISMATCH: {place}: Expression {name} is not of type ROW",
    ),
    (
        r"UNNEST requires a single list",
        "NOT_SUPPORTED: UNNEST of a map is not supported by localcloud",
    ),
    (r"(?P<rest>.+ field value out of range.*)", "INVALID_CAST_ARGUMENT: {rest}"),
    (r"Division by zero", "DIVISION_BY_ZERO: Division by zero"),
    (r"(?:Could not parse|Malformed JSON).*", "INVALID_FUNCTION_ARGUMENT: {0}"),
    (
        r"(?:No function matches the given name and argument types|Could not choose a best "
        r"candidate function for the function call|Macro) [\"']?(?:trino_)?(?P<name>\w+)",
        "FUNCTION_NOT_FOUND: {place}: Unexpected parameters for function {name}",
    ),
    (r"More than one row returned by a subquery", "SUBQUERY_MULTIPLE_ROWS: {0}"),
)

_KINDS = {"INT8": "TINYINT", "INT16": "SMALLINT", "INT32": "INT", "INT64": "BIGINT"}


def run_query(query: Query, catalog: Catalog, max_bytes: int | None) -> Result:
    """Run a statement over the tables of a catalog.

    Raises:
        QueryFailedError: a table or the statement is invalid.
        ScanLimitError: its tables exceed the limit.
    """
    statement = read_statement(query.sql, query.database, query.parameters)
    if statement.query is None:
        drop(statement, catalog)
        return Result((), [], 0)
    with connect() as connection:
        load = _Load(connection, catalog, max_bytes)
        load.tables_of(statement)
        query.interrupt = connection.interrupt
        if query.state.final:  # cancelled meanwhile, when there was nothing to interrupt
            raise QueryFailedError(query.reason)
        try:
            return _answer(connection, query, statement, catalog, load.size)
        except duckdb.Error as error:
            raise QueryFailedError(_explain(str(error), statement)) from error
        finally:
            query.interrupt = lambda: None  # otherwise the connection would live too long


def connect() -> duckdb.DuckDBPyConnection:
    """Open a DuckDB with an empty catalog, which sees neither Python's variables nor files."""
    connection = duckdb.connect(config={"python_enable_replacements": "false"})
    for setting in (f"ATTACH ':memory:' AS {CATALOG}", *_SETTINGS):
        connection.execute(setting)
    return connection


class _Load:
    """Loads the tables of statements, each once, and counts their bytes."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, catalog: Catalog, max_bytes: int | None
    ) -> None:
        self._connection, self._catalog, self._max_bytes = connection, catalog, max_bytes
        self._loaded: set[tuple[str, str]] = set()
        self.size = 0

    def tables_of(self, statement: Statement, depth: int = 0) -> None:
        """Load the tables of a statement, and those of its views."""
        for table in statement.tables:
            key = (table.database, table.name)
            if key in self._loaded:
                continue
            self._loaded.add(key)
            schema = f"{CATALOG}.{_quote(name_schema(table.database))}"
            self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            found = self._catalog.load(table)
            target = f"{schema}.{_quote(table.name)}"
            if isinstance(found, View):
                self._view(found, table, target, depth)
                continue
            self.size += found.size
            if self._max_bytes is not None and self.size > self._max_bytes:
                raise ScanLimitError("Bytes scanned limit was exceeded")
            self._connection.register("_loaded", found.rows)
            sql = f"CREATE TABLE {target} AS SELECT * FROM _loaded"  # noqa: S608 - quoted
            self._connection.execute(sql)
            self._connection.unregister("_loaded")

    def _view(self, view: View, table: TableName, target: str, depth: int) -> None:
        name = f"awsdatacatalog.{table.database}.{table.name}"
        stale = f"VIEW_IS_STALE: {table.place}: View '{name}' is stale or in invalid state"
        if depth >= _MOST_VIEWS:
            raise QueryFailedError(f"{stale}: it contains itself, or too many views")
        try:
            inner = read_statement(view.sql, view.database)
            self.tables_of(inner, depth + 1)
            relation, text = _bind(self._connection, inner)
        except (StatementError, QueryFailedError, duckdb.Error) as error:
            said = _explain(str(error), None) if isinstance(error, duckdb.Error) else error
            raise QueryFailedError(f"{stale}: {said}") from error
        if len(relation.columns) != len(view.columns):
            raise QueryFailedError(f"{stale}: it has other columns than when it was created")
        names = ", ".join(map(_quote, view.columns))
        self._connection.execute(f"CREATE VIEW {target} ({names}) AS {text}")


def _bind(
    connection: duckdb.DuckDBPyConnection, statement: Statement
) -> tuple[duckdb.DuckDBPyRelation, str]:
    """Return the statement's query with its types checked, before it runs, and its text."""
    assert statement.query is not None  # noqa: S101 - only statements with one come here
    translation = translate(statement.query, statement.sql, statement.database)
    for macro in translation.macros:
        connection.execute(macro)
    connection.sql(translation.check)
    return connection.sql(translation.sql), translation.sql


def _answer(
    connection: duckdb.DuckDBPyConnection,
    query: Query,
    statement: Statement,
    catalog: Catalog,
    size: int,
) -> Result:
    relation, _ = _bind(connection, statement)
    names = statement.name_columns(list(relation.columns))
    selection = Selection(names, relation, size)
    if statement.kind is StatementKind.CREATE_VIEW:
        create_view(statement, selection, catalog)
        return Result((), [], 0)
    if statement.kind is StatementKind.CREATE_TABLE_AS:
        return create_table(query, statement, selection, catalog)
    types = [name_type(str(kind)) for kind in relation.types]
    columns = [column.to_pylist() for column in relation.to_arrow_table().columns]
    written = [tuple(map(write_value, row)) for row in zip(*columns, strict=True)]
    shown = [name or f"_col{at}" for at, name in enumerate(names)]
    return Result(tuple(zip(shown, types, strict=True)), written, size)


def _explain(said: str, statement: Statement | None) -> str:
    """Return an error in Athena's words, if it has an equivalent."""
    plain = said.partition("\n\nLINE ")[0]
    for pattern, words in _EXPLAINED:
        if found := re.search(pattern, plain):
            named = {
                key: _name_kind(value) if key in {"a", "b", "kind"} else value
                for key, value in found.groupdict().items()
            }
            place = "line 1:1"
            if statement is not None and statement.query is not None and "name" in named:
                known = find_name(statement.query, statement.sql, named["name"])
                named["name"], place = known or (named["name"], place)
            return words.format(found[0], place=place, **named)
    return plain


def _name_kind(text: str) -> str:
    """Return a type of DuckDB's messages, where a literal has one of its own."""
    return _KINDS.get(text) or text.removesuffix("_LITERAL").lower()


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
