"""A statement before any table is read: its kind, its tables, its columns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from localcloud.queries.query import QueryFailedError, StatementKind
from localcloud.queries.translation import Athena, find_tables, locate, place_of

_OTHERS = frozenset(
    """alter analyze deallocate delete describe execute explain grant insert merge msck optimize
    prepare revoke show truncate unload update use vacuum""".split()
)
_FIRST = frozenset({"(", "create", "drop", "select", "table", "values", "with"})
_COMMENT = re.compile(r"\s*(--[^\n]*(\n|$)|/\*.*?\*/)", re.DOTALL)
_ANSWERED = "SELECT, WITH, VALUES, CREATE TABLE AS, CREATE VIEW, DROP TABLE and DROP VIEW"
# What sqlglot reads and Trino does not.
_NOT_TRINO = (exp.ILike, exp.Qualify, exp.Pivot, exp.Distinct, exp.Star, exp.Group)


class StatementError(ValueError):
    """A statement that is refused before it runs."""


@dataclass(frozen=True, slots=True)
class TableName:
    """A table as a statement names it, with its place in the text."""

    database: str
    name: str
    place: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: its query with the tables, the table or view that it makes or drops.

    It says which columns have no name, as far as they stand before the first `*` or after the last.
    """

    kind: StatementKind
    sql: str
    database: str
    query_sql: str = ""  # of a view
    query: exp.Query | exp.Values | None = None
    tables: tuple[TableName, ...] = ()
    unnamed_before_star: tuple[bool, ...] = ()
    unnamed_after_star: tuple[bool, ...] = ()
    target: TableName | None = None
    replace: bool = False
    if_exists: bool = False  # IF EXISTS, or IF NOT EXISTS
    with_data: bool = True
    properties: dict[str, Any] = field(default_factory=dict)

    def name_columns(self, names: list[str]) -> list[str | None]:
        """Return the names of the columns; None is a column without one."""
        before, after = self.unnamed_before_star, self.unnamed_after_star
        unnamed = [*before, *[False] * (len(names) - len(before) - len(after)), *after]
        return [
            None if is_unnamed else name.lower()
            for name, is_unnamed in zip(names, unnamed, strict=True)
        ]


def read_statement(sql: str, database: str, parameters: tuple[str, ...] | None = None) -> Statement:
    """Parse a statement; names without a database belong to the given one.

    Raises:
        StatementError: localcloud does not run it, it is more than one, or not valid SQL.
        QueryFailedError: it has another number of parameters.
    """
    text = sql
    while match := _COMMENT.match(text):
        text = text[match.end() :]
    first = (re.match(r"\s*(\(|\w*)", text) or [""])[0].strip().lower()
    if first in _OTHERS:
        raise _refuse(first.upper())
    tree, tokens = _parse(sql, first)
    _check_syntax(tree, sql)
    if parameters is not None:
        _fill_in(tree, parameters)
    if isinstance(tree, exp.Create):
        named = (each.end for each in tokens if each.token_type == TokenType.ALIAS)
        start = next(named, len(sql)) + 1
        return _read_create(tree, sql, database, sql[start:].strip())
    if isinstance(tree, exp.Drop):
        return _read_drop(tree, sql, database)
    if not isinstance(tree, exp.Query | exp.Values):
        raise _refuse(first.upper())
    return _read_query(tree, sql, database, kind=StatementKind.SELECT)


def _refuse(kind: str) -> StatementError:
    return StatementError(
        f"Queries of this type are not supported: {kind}; localcloud answers {_ANSWERED}"
    )


def _parse(sql: str, first: str) -> tuple[exp.Expr, list[Token]]:
    try:
        dialect = Athena()
        tokens = dialect.tokenize(sql)
        trees = dialect.parser().parse(tokens, sql)
    except SqlglotError as error:
        raise _explain(error, sql) from error
    strange = next((each for each in tokens if each.token_type == TokenType.DCOLON), None)
    if strange or first not in _FIRST:
        raise _mismatch(sql, strange.start if strange else 0, "::" if strange else first)
    if len(trees) != 1 or trees[0] is None:
        raise StatementError(f"Only one sql statement is allowed. Got: {sql}")
    return trees[0], tokens


def _explain(error: SqlglotError, sql: str) -> StatementError:
    found = next(iter(getattr(error, "errors", [])), None)
    if found is None:  # of the tokens
        return StatementError(f"{locate(sql, 0)}: {str(error).partition(chr(10))[0]}")
    token = found["highlight"]
    return StatementError(
        f"line {found['line']}:{found['col'] - len(token) + 1}: mismatched input '{token}'. "
        f"{found['description'].partition(' but got ')[0]}"
    )


def _mismatch(sql: str, position: int, token: str) -> StatementError:
    return StatementError(f"{locate(sql, position)}: mismatched input '{token}'")


def _check_syntax(tree: exp.Expr, sql: str) -> None:
    """Refuse what sqlglot reads and Trino does not."""
    for node in tree.find_all(*_NOT_TRINO):
        what = {
            exp.ILike: "ILIKE",
            exp.Qualify: "QUALIFY",
            exp.Pivot: "PIVOT",
            exp.Distinct: node.args.get("on") and "DISTINCT ON",
            exp.Group: node.args.get("all") is True and "GROUP BY ALL",
            exp.Star: (node.args.get("except_") or node.args.get("replace")) and "EXCEPT",
        }[type(node)]
        if what:
            raise StatementError(f"{place_of(node, sql)}: mismatched input '{what}'")


def _fill_in(tree: exp.Expr, parameters: tuple[str, ...]) -> None:
    """Put the parameters, which are SQL, where the question marks are."""
    wanted = list(tree.find_all(exp.Placeholder, bfs=False))
    if len(wanted) != len(parameters):
        said = f"expected {len(wanted)} but found {len(parameters)}"
        raise QueryFailedError(
            f"INVALID_PARAMETER_USAGE: line 1:1: Incorrect number of parameters: {said}"
        )
    for node, parameter in zip(wanted, parameters, strict=True):
        value = _parse(f"SELECT {parameter}", "select")[0].expressions[0]
        for inner in value.walk():  # places are those of the statement
            inner.meta.clear()
        node.replace(value)


def _read_query(query: exp.Query | exp.Values, sql: str, database: str, **others: Any) -> Statement:
    tables = tuple(
        TableName((each.db or database).lower(), each.name.lower(), place_of(each, sql))
        for each in find_tables(query)
    )
    before, after = _find_unnamed(query)
    return Statement(
        sql=sql,
        database=database,
        query=query,
        tables=tables,
        unnamed_before_star=before,
        unnamed_after_star=after,
        **others,
    )


def _read_create(tree: exp.Create, sql: str, database: str, query_sql: str) -> Statement:
    kind = {"TABLE": StatementKind.CREATE_TABLE_AS, "VIEW": StatementKind.CREATE_VIEW}.get(
        str(tree.kind).upper()
    )
    query = tree.expression
    query = query.unnest() if isinstance(query, exp.Subquery) else query
    if kind is None or not isinstance(query, exp.Query) or not isinstance(tree.this, exp.Table):
        raise _refuse(f"CREATE {tree.kind} without AS" if kind else f"CREATE {tree.kind}")
    return _read_query(
        query,
        sql,
        database,
        kind=kind,
        query_sql=query_sql,
        target=_name_target(tree.this, sql, database),
        replace=bool(tree.args.get("replace")),
        if_exists=bool(tree.args.get("exists")),
        **_read_properties(tree),
    )


def _read_drop(tree: exp.Drop, sql: str, database: str) -> Statement:
    kind = {"TABLE": StatementKind.DROP_TABLE, "VIEW": StatementKind.DROP_VIEW}.get(
        str(tree.args.get("kind")).upper()
    )
    tables = tree.args.get("tables") or [tree.this]
    if kind is None or len(tables) != 1 or not isinstance(tables[0], exp.Table):
        raise _refuse(f"DROP {tree.args.get('kind')}")
    return Statement(
        kind,
        sql,
        database,
        target=_name_target(tables[0], sql, database),
        if_exists=bool(tree.args.get("exists")),
    )


def _name_target(table: exp.Table, sql: str, database: str) -> TableName:
    return TableName((table.db or database).lower(), table.name.lower(), place_of(table, sql))


def _read_properties(tree: exp.Create) -> dict[str, Any]:
    """Read the properties behind WITH; a list is one of texts."""
    found: dict[str, Any] = {}
    with_data = True
    properties = tree.args.get("properties")
    for each in properties.expressions if properties else []:
        if isinstance(each, exp.WithDataProperty):
            with_data = not each.args.get("no")
        elif isinstance(each, exp.FileFormatProperty):
            found["format"] = each.this.name
        elif isinstance(each, exp.PartitionedByProperty):
            found["partitioned_by"] = [one.name for one in each.this.expressions]
        elif isinstance(each, exp.SchemaCommentProperty):
            found["comment"] = each.this.name
        elif isinstance(each, exp.Property) and each.args.get("value"):
            value = each.args["value"]
            listed = isinstance(value, exp.Array)
            found[each.name.lower()] = (
                [one.name for one in value.expressions] if listed else value.name
            )
        else:
            raise _refuse(f"CREATE with {type(each).__name__}")
    return {"properties": found, "with_data": with_data}


def _find_unnamed(query: exp.Query | exp.Values) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Return which expressions have no name, before the first `*` and after the last."""
    if isinstance(query, exp.Values):
        return tuple(True for _ in query.expressions[0].expressions), ()
    listed = query.selects
    unnamed = [not isinstance(each, exp.Alias | exp.Column | exp.Dot) for each in listed]
    stars = [at for at, each in enumerate(listed) if each.is_star]
    if not stars:
        return tuple(unnamed), ()
    return tuple(unnamed[: stars[0]]), tuple(unnamed[stars[-1] + 1 :])
