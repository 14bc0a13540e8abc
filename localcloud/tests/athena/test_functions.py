"""Trino's functions and syntax.

The values are those of its documentation ("Functions and operators") or follow from its sentences;
DuckDB computed none of them.
"""

from __future__ import annotations

import pytest

from localcloud.queries.engine import connect, run_query
from localcloud.queries.query import Query, QueryFailedError, StatementKind
from localcloud.queries.statement import StatementError, read_statement


def ask(sql):
    """Return the rows of a query without tables."""
    query = Query("id", sql, "db", StatementKind.SELECT, "s3://bucket", output_is_enforced=False)
    return run_query(query, None, None).rows


def fail(sql):
    with pytest.raises(QueryFailedError) as caught:
        ask(sql)
    return str(caught.value)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        # dates: patterns are MySQL's, units are counted when they are whole
        (
            "date_format(from_unixtime(1629423817123/1000), '%Y-%m-%d %h:%i:%s')",
            "2021-08-20 01:43:37",
        ),
        (
            "date_format(timestamp '2022-10-20 05:10:00', '%m-%d-%Y %H')",
            "10-20-2022 05",
        ),
        (
            "date_format(timestamp '2026-01-02 15:04:05.678', "
            "'%a %b %c %d %e %f %H %h %I %i %j %k %l %M %m %p %r %S %s %T %v %W %x %Y %y %% %q')",
            "Fri Jan 1 02 2 678000 15 03 03 04 002 15 3 January 01 PM 03:04:05 PM 05 05 15:04:05 "
            "01 Friday 2026 2026 26 % q",
        ),
        ("date_parse('2022/10/20/05', '%Y/%m/%d/%H')", "2022-10-20 05:00:00.000"),
        ("date_add('second', 86, timestamp '2020-03-01 00:00:00')", "2020-03-01 00:01:26.000"),
        ("date_add('day', -1, timestamp '2020-03-01 00:00:00 UTC')", "2020-02-29 00:00:00.000 UTC"),
        ("date_add('month', 1, date '2020-01-31')", "2020-02-29"),
        (
            "date_diff('second', timestamp '2020-03-01 00:00:00', timestamp '2020-03-02 00:00:00')",
            "86400",
        ),
        (
            "date_diff('hour', timestamp '2020-03-01 00:00:00 UTC', "
            "timestamp '2020-03-02 00:00:00 UTC')",
            "24",
        ),
        ("date_diff('day', date '2020-03-01', date '2020-03-02')", "1"),
        (
            "date_diff('hour', timestamp '2020-03-01 00:59:00', timestamp '2020-03-01 02:01:00')",
            "1",
        ),
        ("date_trunc('hour', timestamp '2001-08-22 03:04:05.321')", "2001-08-22 03:00:00.000"),
        ("date_trunc('month', date '2001-08-22')", "2001-08-01"),
        ("date '2012-08-08' + interval '2' day", "2012-08-10"),
        ("timestamp '2012-10-31 01:00' - interval '3' month", "2012-07-31 01:00:00.000"),
        ("interval '2' day + interval '3' hour", "2 03:00:00.000"),
        ("interval '3' year + interval '5' month", "3-5"),
        ("to_unixtime(from_unixtime(1.5))", "1.5"),
        ("to_iso8601(date '2020-03-01')", "2020-03-01"),
        ("to_iso8601(from_unixtime(0))", "1970-01-01T00:00:00.000Z"),
        ("from_iso8601_timestamp('2020-05-11T11:15:05Z')", "2020-05-11 11:15:05.000 UTC"),
        ("day_of_week(date '2020-03-01')", "7"),
        ("last_day_of_month(date '2020-02-03')", "2020-02-29"),
        ("hour(at_timezone(from_unixtime(0), 'Europe/Berlin'))", "1"),
        ("date_format(from_unixtime(0) AT TIME ZONE 'Asia/Tokyo', '%H:%i')", "09:00"),
        ("cast(timestamp '2026-01-01 01:02:03' AS varchar)", "2026-01-01 01:02:03.000"),
        # texts
        ("split('a,b', ',')[2]", "b"),
        ("split_part('a,b', ',', 3)", None),
        ("concat('a', null)", None),
        ("strpos('high', 'ig')", "2"),
        ("position('b' IN 'abc')", "2"),
        ("substring('abc' FROM 2 FOR 1)", "b"),
        ("regexp_like('1a 2b 14m', '\\d+b')", "true"),
        ("regexp_extract('1a 2b 14m', '(\\d+)([a-z]+)', 2)", "a"),
        ("regexp_extract('1a 2b 14m', 'x')", None),
        ("regexp_replace('1a 2b 14m', '\\d+[ab] ')", "14m"),
        ("regexp_replace('1a 2b 14m', '(\\d+)([ab]) ', '3c$2 ')", "3ca 3cb 14m"),
        ("to_hex(md5(to_utf8('a')))", "0CC175B9C0F1B6A831C399E269772661"),
        ("url_extract_host('http://a.example:80/c?d')", "a.example"),
        # JSON: an object is no scalar, and invalid text has no value
        ("json_extract('{\"a\": {\"b\": 1}}', '$.a')", '{"b":1}'),
        ("json_extract_scalar('{\"a\": {\"b\": 1}}', '$.a.b')", "1"),
        ("json_extract_scalar('{\"a\": {\"b\": 1}}', '$.a')", None),
        ("json_extract_scalar('no json', '$.a')", None),
        ("json_array_length('[1, 2, 3]')", "3"),
        # arrays, maps, rows
        ("cardinality(array[1, 2])", "2"),
        ("cardinality(map(array['a'], array[1]))", "1"),
        ("element_at(array[1, 2], 3)", None),
        ("element_at(array[1, 2], -1)", "2"),
        ("element_at(map(array['a'], array[1]), 'b')", None),
        ("transform(array[5, 6], x -> x + 1)", "[6, 7]"),
        ("filter(array[5, -6, 7], x -> x > 0)", "[5, 7]"),
        ("array_join(array['a', 'b'], '-')", "a-b"),
        ("array_position(array[1, 2], 3)", "0"),
        ("array_except(array[1, 2], array[2])", "[1]"),
        ("slice(array[1, 2, 3], 2, 2)", "[2, 3]"),
        ("sequence(1, 3)", "[1, 2, 3]"),
        ("cast(row(1, 'a') AS row(x integer, y varchar)).y", "a"),
        # numbers, conditions
        ("7 / 2", "3"),
        ("truncate(-2.7)", "-2"),
        ("greatest(1, 2, null)", None),
        ("try(1 / 0)", None),
        ("try_cast('x' AS integer)", None),
        ("try_cast('1.5' AS integer)", None),
        ("cast('-12' AS bigint)", "-12"),
        ("cast(1.2 AS integer)", "1"),
        ("cast(null AS integer)", None),
        ("cast('12' AS decimal)", "12"),
        ("if(1 = 1, 'a', 'b')", "a"),
        ("is_nan(nan())", "true"),
    ],
)
def test_a_function_returns_the_value_of_trino(expression, value):
    assert ask(f"SELECT {expression}") == [(value,)]


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (
            "SELECT array_agg(x ORDER BY x DESC), approx_distinct(x), count_if(x > 1), "
            "max_by(x, y), arbitrary(1), approx_percentile(x, 0.5), bool_or(x > 1) "
            "FROM (VALUES (1, 2), (2, 1), (3, 0)) AS t(x, y)",
            [("[3, 2, 1]", "3", "2", "1", "1", "2", "true")],
        ),
        (
            "SELECT x, row_number() OVER (PARTITION BY x ORDER BY y DESC) AS n "
            "FROM (VALUES (1, 2), (1, 3)) AS t(x, y) ORDER BY 2",
            [("1", "1"), ("1", "2")],
        ),
        (
            "SELECT a, n FROM UNNEST(array['x', 'y']) WITH ORDINALITY AS t(a, n)",
            [("x", "1"), ("y", "2")],
        ),
        (
            "SELECT s.i, t.a FROM (VALUES (array[1, 2])) AS s(i) CROSS JOIN UNNEST(s.i) AS t(a)",
            [("[1, 2]", "1"), ("[1, 2]", "2")],
        ),
        ("SELECT x FROM (VALUES 2, null, 1) AS t(x) ORDER BY x DESC", [("2",), ("1",), (None,)]),
        ("SELECT x FROM (VALUES 1, 2, 3) AS t(x) ORDER BY x OFFSET 1 LIMIT 1", [("2",)]),
        (
            "SELECT x, grouping(x), sum(x) FILTER (WHERE x > 1) FROM (VALUES 1, 2) AS t(x) "
            "GROUP BY GROUPING SETS ((x), ()) ORDER BY 2, 1",
            [("1", "0", None), ("2", "0", "2"), (None, "1", "2")],
        ),
    ],
)
def test_rows_are_those_of_trino(sql, rows):
    assert ask(sql) == rows


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "SELECT lower('a'),\n  list_sum(array[1]), no_such()",
            "FUNCTION_NOT_FOUND: line 2:3: Function 'list_sum' not registered in localcloud",
        ),
        (
            "SELECT * FROM read_csv('/etc/hosts')",
            "FUNCTION_NOT_FOUND: line 1:15: Function 'read_csv' not registered in localcloud",
        ),
        (
            "SELECT date_format('2026-01-01', '%Y')",
            "FUNCTION_NOT_FOUND: line 1:8: Unexpected parameters for function date_format",
        ),
        (
            "SELECT date_add('day', 1)",
            "FUNCTION_NOT_FOUND: line 1:8: Unexpected parameters for function date_add",
        ),
        (
            "SELECT date_format(now(), '%D')",
            "INVALID_FUNCTION_ARGUMENT: line 1:8: %D not supported in date format string",
        ),
        (
            "SELECT date_format(now(), p) FROM (VALUES '%Y') AS t(p)",
            "NOT_SUPPORTED: line 1:8: date_format with a pattern that is not a literal is not "
            "supported by localcloud",
        ),
        (
            "SELECT 1 WHERE date '2026-01-01' = '2026-01-01'",
            "TYPE_MISMATCH: Cannot apply operator: date = varchar",
        ),
        (
            "SELECT x FROM (VALUES 1) AS t(x) WHERE x IN ('1')",
            "TYPE_MISMATCH: Cannot apply operator: integer = varchar",
        ),
        (
            "SELECT x, count(*) FROM (VALUES 1) AS t(x)",
            "EXPRESSION_NOT_AGGREGATE: line 1:8: 'x' must be an aggregate expression or appear in "
            "GROUP BY clause",
        ),
        (
            "SELECT x FROM (VALUES 1) AS t(x), (VALUES 1) AS u(x)",
            "AMBIGUOUS_NAME: line 1:8: Column 'x' is ambiguous",
        ),
        (
            "SELECT 1,\n nothing FROM (VALUES 1) AS t(x)",
            "COLUMN_NOT_FOUND: line 2:2: Column 'nothing' cannot be resolved or requester is not "
            "authorized to access requested resources",
        ),
        ("SELECT 1 / 0", "DIVISION_BY_ZERO: Division by zero"),
        (
            "SELECT cast('x' AS integer)",
            "INVALID_CAST_ARGUMENT: Cannot cast 'x' to INT",
        ),
        (
            "SELECT cast(x AS bigint) FROM (VALUES '1', '1.5') AS t(x)",
            "INVALID_CAST_ARGUMENT: Cannot cast '1.5' to BIGINT",
        ),
        (
            "SELECT whole_or_null('1')",
            "FUNCTION_NOT_FOUND: line 1:8: Function 'whole_or_null' not registered in localcloud",
        ),
        (
            "SELECT from_unixtime(0) AT TIME ZONE 'Asia/Tokyo'",
            "NOT_SUPPORTED: line 1:22: a moment in another zone, except as an argument, is not "
            "supported by localcloud",
        ),
        (
            "SELECT lag(x) IGNORE NULLS OVER (ORDER BY x) FROM (VALUES 1) AS t(x)",
            "NOT_SUPPORTED: line 1:8: IGNORE NULLS is not supported by localcloud",
        ),
        (
            "SELECT a FROM UNNEST(array[1], array[2]) AS t(a, b)",
            "NOT_SUPPORTED: line 1:28: UNNEST of several arrays is not supported by localcloud",
        ),
        (
            "SELECT k FROM UNNEST(map(array['a'], array[1])) AS t(k, v)",
            "NOT_SUPPORTED: UNNEST of a map is not supported by localcloud",
        ),
        (
            "SELECT ? + 1",
            "INVALID_PARAMETER_USAGE: line 1:1: Incorrect number of parameters: expected 1 but "
            "found 0",
        ),
    ],
)
def test_a_query_fails_with_the_class_of_athena(sql, said):
    assert fail(sql) == said


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT 1\n  FROM", "line 2:3: mismatched input 'FROM'. Expected table name"),
        ("SELEC 1", "line 1:7: mismatched input '1'. Invalid expression / Unexpected token"),
        ("FROM devices", "line 1:1: mismatched input 'from'"),
        ("SELECT '1'::int", "line 1:11: mismatched input '::'"),
        ("SELECT 1 WHERE 'a' ILIKE 'A'", "line 1:16: mismatched input 'ILIKE'"),
        ("SELECT DISTINCT ON (x) x FROM t", "line 1:21: mismatched input 'DISTINCT ON'"),
        ("SELECT 1; SELECT 2", "Only one sql statement is allowed. Got: SELECT 1; SELECT 2"),
    ],
)
def test_sql_that_trino_lacks_is_refused(sql, said):
    with pytest.raises(StatementError) as caught:
        read_statement(sql, "db")
    assert str(caught.value) == said


def test_a_query_has_neither_the_files_nor_all_memory_of_this_machine():
    with connect() as connection:
        found = connection.execute(
            "SELECT name, value FROM duckdb_settings() WHERE name IN ('enable_external_access', "
            "'lock_configuration', 'memory_limit', 'temp_directory') ORDER BY name"
        ).fetchall()
    assert found == [
        ("enable_external_access", "false"),
        ("lock_configuration", "true"),
        ("memory_limit", "1.0 GiB"),
        ("temp_directory", ""),
    ]
