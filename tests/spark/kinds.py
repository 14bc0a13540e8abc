"""A column of each type of PostgreSQL, and the value that Debezium writes of it, in SQL."""

from __future__ import annotations

import json
import math
from typing import NamedTuple

_UUID = "6f2c1a34-0000-4000-8000-000000000001"
_MICROS = "(extract(epoch FROM {}) * 1000000)::bigint"
_DAYS = "ARRAY(SELECT each - DATE '1970-01-01' FROM unnest({}) each)"
_ISO = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
_ISOS = """ARRAY(SELECT to_char(each AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    FROM unnest({}) each)"""
_FLOAT = "CASE WHEN {0}::text ~ '[a-z]' THEN to_json({0}::text) ELSE to_json({0}) END"
_TEXT = "{}::text"


class Kind(NamedTuple):
    """A type; its values: a usual one, an odd one and one that is kept out of line.

    Of some types a value out of line that an update leaves alone has no placeholder: it is null
    without REPLICA IDENTITY FULL.
    """

    type: str
    usual: str
    odd: str = "NULL"
    long: str = "NULL"
    written: str = "{}"
    has_placeholder: bool = True


KINDS = {
    "bool": Kind("bool", "true", "false"),
    "int2": Kind("smallint", "1", "-32768"),
    "int4": Kind("int", "2", "-2147483648"),
    "int8": Kind("bigint", "3", "9223372036854775807"),
    "float4": Kind("real", "1.5", "'NaN'", written=_FLOAT),
    "float8": Kind("double precision", "2.5", "'-Infinity'", written=_FLOAT),
    "number": Kind(
        "numeric", "12345678901234567890.123456789", "'NaN'", "repeat('9', 9000)::numeric",
        "upper({}::text)",
    ),
    "number_5_2": Kind("numeric(5,2)", "1.10", "-999.99", written=_TEXT),
    "money": Kind("money", "12.34", "-0.01", written="{}::numeric::text"),
    "char_5": Kind("char(5)", "'ab'", "''", written="rpad({}, 5)"),
    "varchar": Kind("varchar", "'cd'", "'null'", "repeat('h', 9000)"),
    "text": Kind("text", "'ef'", "E'\\u20ac \\\\ \\''", "repeat('a', 9000)"),
    "bytea": Kind(
        "bytea", r"'\x00ff'", "''", "convert_to(repeat('b', 9000), 'UTF8')", "encode({}, 'hex')"
    ),
    "date": Kind("date", "'2026-11-26'", "'1500-02-28'", written="{} - DATE '1970-01-01'"),
    "time": Kind("time", "'12:34:56.789012'", "'24:00'", written=_MICROS),
    "timetz": Kind(
        "timetz", "'12:34:56.789+02'", written="({} AT TIME ZONE 'UTC')::time::text || 'Z'"
    ),
    "stamp": Kind(
        "timestamp", "'2026-11-26 12:00:00.123456'", "'1500-02-28 00:00'", written=_MICROS
    ),
    "stamp_3": Kind(
        "timestamp(3)", "'2026-11-26 12:00:00.123'", "'0001-01-01 00:00'",
        written="(extract(epoch FROM {}) * 1000)::bigint",
    ),
    "stamptz": Kind(
        "timestamptz", "'2026-11-26 12:00:00.123456+02'", "'1500-02-28 00:00+00'", written=_ISO
    ),
    "span": Kind("interval", "'3 days 04:05:06.789'", "'-1 second'", written=_MICROS),
    "uuid": Kind("uuid", f"'{_UUID}'", written=_TEXT),
    "json": Kind("json", "'{\"a\": 1}'", "'null'", "to_json(repeat('c', 9000))", _TEXT),
    "jsonb": Kind("jsonb", "'{\"a\":1}'", "'null'", "to_jsonb(repeat('d', 9000))", _TEXT),
    "xml": Kind(
        "xml", "'<a/>'", long="xmlparse(content '<a>' || repeat('e', 9000) || '</a>')",
        written=_TEXT,
    ),
    "mood": Kind("mood", "'ok'", "'sad'", written=_TEXT),
    "domain": Kind("positive", "5"),
    "bit": Kind("bit(1)", "B'1'", "B'0'", written="({} = B'1')"),
    "bits": Kind("bit(10)", "B'1010101010'", written="'aa02'"),
    "inet": Kind("inet", "'10.0.0.1'", written="host({})"),
    "cidr": Kind("cidr", "'10.0.0.0/8'", written=_TEXT),
    "mac": Kind("macaddr", "'08:00:2b:01:02:03'", written=_TEXT),
    "range": Kind("int4range", "'[1,5)'", "'empty'", written=_TEXT),
    "words": Kind(
        "tsvector", "'a cat'", "''",
        "to_tsvector('simple', (SELECT string_agg('w' || i, ' ') FROM generate_series(1, 3000) i))",
        _TEXT,
    ),
    "pairs": Kind(
        "hstore", "'a=>1,b=>NULL'", "''", "hstore('k', repeat('g', 9000))",
        "replace(hstore_to_json({})::text, ' ', '')",
    ),
    "oid": Kind("oid", "7", written="{}::bigint"),
    "ints": Kind("int[]", "'{1,NULL,3}'", "'{}'", "array_fill(1, ARRAY[3000])"),
    "longs": Kind("bigint[]", "'{1}'", "'{}'", "array_fill(2::bigint, ARRAY[3000])"),
    "texts": Kind("text[]", "'{a,NULL}'", "'{}'", "array_fill('x'::text, ARRAY[3000])"),
    "dates": Kind(
        "date[]", "'{2026-11-26}'", "'{1500-02-28}'",
        "array_fill('2026-11-26'::date, ARRAY[3000])", _DAYS,
    ),
    "uuids": Kind(
        "uuid[]", f"'{{{_UUID}}}'", "'{}'", f"array_fill('{_UUID}'::uuid, ARRAY[3000])",
        "{}::text[]",
    ),
    "jsons": Kind(
        "jsonb[]", "ARRAY['{\"a\": 1}'::jsonb]", "'{}'", "array_fill('{}'::jsonb, ARRAY[3000])",
        "{}::text[]",
    ),
    "floats": Kind(
        "float8[]", "'{1.5,NULL}'", "'{}'", "array_fill(1.5::float8, ARRAY[3000])",
        has_placeholder=False,
    ),
    "numbers": Kind(
        "numeric[]", "'{1.10,NULL}'", "'{}'", "array_fill(1.5::numeric, ARRAY[3000])",
        "{}::text[]", has_placeholder=False,
    ),
    "bools": Kind(
        "bool[]", "'{t,f}'", "'{}'", "array_fill(true, ARRAY[9000])", has_placeholder=False
    ),
    "moods": Kind(
        "mood[]", "'{ok}'", "'{}'", "array_fill('ok'::mood, ARRAY[3000])", "{}::text[]",
        has_placeholder=False,
    ),
    "stamps": Kind(
        "timestamptz[]", "'{2026-11-26 12:00:00+02}'", "'{}'",
        "array_fill('2026-11-26'::timestamptz, ARRAY[3000])", _ISOS, has_placeholder=False,
    ),
}  # fmt: skip


def create_kinds():
    """Return the SQL of a table in each of two schemas, the second one with all old values."""
    columns = ", ".join(f'"{name}" {kind.type}' for name, kind in KINDS.items())
    made = [
        "CREATE SCHEMA other; CREATE TYPE mood AS ENUM ('sad', 'ok');"
        " CREATE DOMAIN positive AS int CHECK (VALUE > 0);"
    ]
    for schema in ("public", "other"):
        made.append(
            f"CREATE TABLE {schema}.kinds (id int PRIMARY KEY, note text, {columns},"
            " doubled int GENERATED ALWAYS AS (id * 2) STORED);"
        )
        made += [
            f'ALTER TABLE {schema}.kinds ALTER "{name}" SET STORAGE EXTERNAL;'
            for name, kind in KINDS.items()
            if kind.long != "NULL" and kind.type != "numeric"
        ]
    made.append("ALTER TABLE other.kinds REPLICA IDENTITY FULL;")
    return "\n".join([*made, insert_kinds(1, "NULL")])


def insert_kinds(first, note):
    """Return the SQL of four rows in each table: of nulls, usual, odd and long values."""
    made = []
    for schema in ("public", "other"):
        table = f"INSERT INTO {schema}.kinds"
        made.append(f"{table} (id, note) VALUES ({first}, {note});")
        for at, field in enumerate(("usual", "odd", "long"), first + 1):
            values = ", ".join(
                getattr(kind, field)
                if kind.has_placeholder or (schema, field) != ("public", "long")
                else "NULL"
                for kind in KINDS.values()
            )
            made.append(f"{table} VALUES ({at}, {note}, {values});")
    return "\n".join(made)


def select_kinds(schema):
    """Return the SQL of rows as Debezium writes them.

    A generated column is not in the log, and only row 2 does not change after the snapshot.
    """
    columns = ", ".join(
        f"""CASE WHEN "{name}" IS NOT NULL THEN {kind.written.format(f'"{name}"')} END "{name}\""""
        for name, kind in KINDS.items()
    )
    generated = "CASE WHEN id = 2 THEN doubled END AS doubled"
    return (
        f"SELECT row_to_json(t) FROM (SELECT id, note, {columns}, {generated}"
        f" FROM {schema}.kinds ORDER BY id) t"
    )


def read_kinds(text):
    """Return the rows that `select_kinds` found."""
    return [json.loads(line) for line in text.splitlines()]


def read_table(rows):
    """Return the rows of a table of the job, with values as JSON has them."""
    found = [{name: _plain(value) for name, value in row.asDict().items()} for row in rows]
    return [{n: row[n] for n in row if not n.startswith("_")} for row in found]


def _plain(value):
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value
