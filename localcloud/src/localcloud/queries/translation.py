"""A query of Trino's SQL as DuckDB's, by its syntax tree.

sqlglot parses and writes both; functions, texts, zones and patterns are translated here, because
a function that Trino does not have must fail and one that it has must mean the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.trino import Trino
from sqlglot.errors import UnsupportedError
from sqlglot.parsers.trino import TrinoParser

from localcloud.queries.functions import (
    CASTS,
    MACROS,
    PATTERNS,
    REFUSED_SPECIFIERS,
    RENAMED,
    SPECIFIERS,
    is_known,
)
from localcloud.queries.query import QueryFailedError

CATALOG = "awsdatacatalog"
_WITH_SYNTAX = ("CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM", "TRY_CAST")
_VARIADIC = ("CONCAT", "GREATEST", "LEAST")
_REFUSED: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.IgnoreNulls, "IGNORE NULLS"),
    (exp.JSONExtract, "JSON paths by operators"),
    (exp.MatchRecognize, "MATCH_RECOGNIZE"),
    (exp.Version, "time travel"),
    (exp.WithinGroup, "WITHIN GROUP"),
)
# Whole numbers, as DuckDB's messages name them.
_WHOLE = {
    exp.DType.TINYINT: "INT8",
    exp.DType.SMALLINT: "INT16",
    exp.DType.INT: "INT32",
    exp.DType.BIGINT: "INT64",
}
# What reads a moment in its zone. Elsewhere a moment has no zone here but UTC.
_READS_ZONE = frozenset(
    """date date_format day day_of_month day_of_week day_of_year dow doy hour millisecond minute
    month quarter second week week_of_year year year_of_week yow""".split()
)


class Athena(Trino):
    """Trino's SQL, whose functions stay as they are written."""

    class Parser(TrinoParser):
        """Knows only the functions that have a syntax of their own."""

        FUNCTIONS = {name: TrinoParser.FUNCTIONS[name] for name in _VARIADIC}  # noqa: RUF012
        FUNCTION_PARSERS = {  # noqa: RUF012 - as sqlglot has them
            name: TrinoParser.FUNCTION_PARSERS[name] for name in _WITH_SYNTAX
        }


@dataclass(frozen=True, slots=True)
class Translation:
    """A query for DuckDB: the macros that it needs, its text, and a text that checks its types."""

    macros: tuple[str, ...]
    sql: str
    check: str


def find_tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """Yield the tables of a query that are not its own WITH."""
    within = {each.alias.lower() for each in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Func):
            continue
        if table.db or table.name.lower() not in within:
            yield table


def name_schema(database: str) -> str:
    """Return the schema of a database in DuckDB, whose own names an underscore keeps apart."""
    return f"{database}_" if database == "information_schema" else database


def locate(sql: str, position: int) -> str:
    """Return a position as line and column."""
    before = sql[: min(position, len(sql))]
    return f"line {before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def place_of(node: exp.Expr, sql: str) -> str:
    """Return the place of a node in the text as line and column."""
    starts = [each.meta["start"] for each in node.walk() if "start" in each.meta]
    return locate(sql, min(starts, default=0))


def find_name(query: exp.Expr, sql: str, name: str) -> tuple[str, str] | None:
    """Return a column or function that DuckDB names, as the text does, and its place."""
    names = {name.lower(), *(ours for ours, its in (RENAMED | PATTERNS).items() if its == name)}
    for node in query.find_all(exp.Identifier, exp.Anonymous, bfs=False):
        if node.name.lower() in names:
            return node.name, place_of(node, sql)
    return None


def translate(query: exp.Expr, sql: str, database: str) -> Translation:
    """Translate a query whose names without a database belong to the given one.

    Raises:
        QueryFailedError: it has something that localcloud does not support.
    """
    tree = query.copy()
    for table in list(find_tables(tree)):
        table.set("catalog", exp.to_identifier(CATALOG))
        schema = name_schema((table.db or database).lower())
        table.set("db", exp.to_identifier(schema, quoted=True))
        table.set("this", exp.to_identifier(table.name.lower(), quoted=True))
    change = _Change(sql)
    tree = change.all_of(tree)
    try:
        return Translation(
            tuple(
                f"CREATE OR REPLACE TEMP MACRO trino_{name}{(MACROS | CASTS)[name]}"
                for name in change.macros
            ),
            _write_sql(tree),
            _write_sql(_compare_strictly(tree)),
        )
    except UnsupportedError as error:
        raise QueryFailedError(f"NOT_SUPPORTED: {error}") from error


def _write_sql(tree: exp.Expr) -> str:
    return tree.sql(DuckDB, unsupported_level=ErrorLevel.RAISE)


def _compare_strictly(tree: exp.Expr) -> exp.Expr:
    """Return a query of the same types: DuckDB's `=` casts text to numbers and dates, its `<` not.

    It is only bound, never run.
    """
    strict = tree.copy()
    for node in list(strict.find_all(exp.EQ, exp.NEQ)):
        node.replace(exp.LT(this=node.this, expression=node.expression))
    for among in list(strict.find_all(exp.In)):
        if among.expressions:
            each = [exp.LT(this=among.this.copy(), expression=one) for one in among.expressions]
            among.replace(exp.paren(exp.or_(*each)))
    return strict


class _Change:
    """Changes the nodes of one tree, the inner ones first."""

    def __init__(self, sql: str) -> None:
        self._sql = sql
        self.macros: dict[str, None] = {}

    def all_of(self, tree: exp.Expr) -> exp.Expr:
        """Return the changed tree."""
        for call in tree.find_all(exp.Anonymous, bfs=False):
            if not is_known(call.name.lower()):
                raise QueryFailedError(
                    f"FUNCTION_NOT_FOUND: {place_of(call, self._sql)}: Function "
                    f"'{call.name.lower()}' not registered in localcloud"
                )
        for node in reversed(list(tree.walk())):
            changed = self._one(node)
            if node is tree:
                tree = changed
            elif changed is not node:
                node.replace(changed)
        return tree

    def _one(self, node: exp.Expr) -> exp.Expr:
        for kind, name in _REFUSED:
            if isinstance(node, kind):
                raise self._refuse(node, name)
        if isinstance(node, exp.Unnest) and len(node.expressions) > 1:
            raise self._refuse(node, "UNNEST of several arrays")
        changed: exp.Expr = node
        if isinstance(node, exp.Literal) and node.is_string:
            changed = self._text(node)
        elif isinstance(node, exp.Anonymous):
            changed = self._call(node)
        elif isinstance(node, exp.AtTimeZone):
            changed = self._move(node, node.this, node.args["zone"])
        elif isinstance(node, exp.Cast) and node.to.this in exp.DataType.TEXT_TYPES:
            changed = self._macro("varchar", [node.this])
        elif isinstance(node, exp.Cast) and node.to.this in _WHOLE:
            node.set("this", self._whole(node))
        elif isinstance(node, exp.Add | exp.Sub):
            changed = _keep_date(node)
        elif isinstance(node, exp.DataType) and node.this == exp.DType.DECIMAL:
            changed = node if node.expressions else exp.DataType.build("DECIMAL(38, 0)")
        return changed

    def _refuse(self, node: exp.Expr, what: str) -> QueryFailedError:
        place = place_of(node, self._sql)
        return QueryFailedError(f"NOT_SUPPORTED: {place}: {what} is not supported by localcloud")

    def _text(self, node: exp.Literal) -> exp.Expr:
        """Return a text as VARCHAR: DuckDB casts one without a type to whatever fits."""
        if isinstance(node.parent, exp.Cast | exp.Interval | exp.Escape | exp.DataTypeParam):
            return node
        return exp.Cast(this=node.copy(), to=exp.DataType.build("VARCHAR"))

    def _macro(self, name: str, arguments: list[exp.Expr]) -> exp.Expr:
        self.macros[name] = None
        return exp.Anonymous(this=f"trino_{name}", expressions=arguments)

    def _whole(self, node: exp.Cast) -> exp.Expr:
        """Return what is cast to a whole number, which a text must be already."""
        value = node.this.copy()
        if isinstance(node, exp.TryCast):
            return self._macro("whole_or_null", [value])
        return self._macro("whole", [value, exp.Literal.string(_WHOLE[node.to.this])])

    def _call(self, node: exp.Anonymous) -> exp.Expr:
        name, arguments = node.name.lower(), node.expressions
        if name == "at_timezone" or (name == "from_unixtime" and len(arguments) > 1):
            moment = arguments[0]
            if name == "from_unixtime":
                moment = self._macro(name, [moment])
            return self._move(node, moment, arguments[1])
        if name in PATTERNS:
            return self._format(node, arguments)
        if name in MACROS:
            if name == "regexp_replace" and len(arguments) > 2:
                arguments[2] = self._replacement(node, arguments[2])
            return self._macro(name, arguments)
        if name in {"transform", "filter"} and not isinstance(arguments[-1], exp.Lambda):
            raise self._refuse(node, f"{name} without a lambda")
        node.set("this", RENAMED.get(name, name))
        return node

    def _format(self, node: exp.Anonymous, arguments: list[exp.Expr]) -> exp.Expr:
        pattern = _literal(arguments[-1])
        if pattern is None:
            raise self._refuse(node, f"{node.name} with a pattern that is not a literal")
        written, letters = "", iter(pattern)
        for letter in letters:
            if letter != "%":
                written += letter
                continue
            code = next(letters, "%")
            if code in REFUSED_SPECIFIERS:
                said = f"%{code} not supported in date format string"
                place = place_of(node, self._sql)
                raise QueryFailedError(f"INVALID_FUNCTION_ARGUMENT: {place}: {said}")
            written += SPECIFIERS.get(code, code)
        node.set("this", PATTERNS[node.name.lower()])
        node.set("expressions", [*arguments[:-1], exp.Literal.string(written)])
        return node

    def _replacement(self, node: exp.Expr, argument: exp.Expr) -> exp.Expr:
        """Return the replacement of a pattern with its groups as `\\1`."""
        text = _literal(argument)
        if text is None:
            raise self._refuse(node, "regexp_replace with a replacement that is not a literal")
        return exp.Literal.string(text.replace("\\", "\\\\").replace("$", "\\"))

    def _move(self, node: exp.Expr, moment: exp.Expr, zone: exp.Expr) -> exp.Expr:
        """Return a moment as the local time of a zone, if that is all that is read of it."""
        around = node.parent
        reads = (
            isinstance(around, exp.Extract)
            or (isinstance(around, exp.Anonymous) and around.name.lower() in _READS_ZONE)
            or (
                isinstance(around, exp.Cast)
                and around.to.this in {exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIME}
            )
        )
        if not reads:
            raise self._refuse(node, "a moment in another zone, except as an argument,")
        in_utc = exp.Cast(this=moment.copy(), to=exp.DataType.build("TIMESTAMPTZ"))
        return exp.Anonymous(this="timezone", expressions=[zone.copy(), in_utc])


def _keep_date(node: exp.Add | exp.Sub) -> exp.Expr:
    """Keep the type of a date that an interval is added to."""
    sides = (node.left, node.right)
    others = [each for each in sides if not isinstance(each, exp.Interval)]
    if len(others) != 1:
        return node
    return exp.Anonymous(this="cast_to_type", expressions=[node.copy(), others[0].copy()])


def _literal(node: exp.Expr) -> str | None:
    """Return the text of a literal, which `_text` may have given its type."""
    inner = node.this if isinstance(node, exp.Cast) else node
    return str(inner.this) if isinstance(inner, exp.Literal) and inner.is_string else None
