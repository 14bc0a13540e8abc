"""Six tables of a real PostgreSQL, transactions on them, and what the job must make of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from random import Random
from typing import Any

from pyspark.sql import Row, SparkSession

from systems.capture import Capture
from systems.tables import make_table

LONG = 2_200  # characters, which PostgreSQL keeps out of line
NAMES = ("film", "actor", "category", "language", "film_actor", "inventory")
_FULL = NAMES[3:]  # the tables with REPLICA IDENTITY FULL
MARK = 999_999  # the id of the row that is written last
SETTINGS = {"skipped__operations": "none", "decimal__handling__mode": "string"}
UNWRAP = {
    "transforms": "unwrap",
    "transforms__unwrap__type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms__unwrap__delete__tombstone__handling__mode": "rewrite-with-tombstone",
    "transforms__unwrap__add__fields": (
        "op,db,schema,table,lsn,source.ts_ms,source.snapshot,source.sequence"
    ),
}


def create_tables() -> str:
    """Return the SQL that makes them, with a few rows."""
    made: list[str] = []
    for name in NAMES:
        made.append(
            f"CREATE TABLE {name} (id int PRIMARY KEY, title text NOT NULL DEFAULT '', plot text,"
            " tags text[], rate numeric(5,2), number int, changed timestamptz);"
            f"ALTER TABLE {name} ALTER plot SET STORAGE EXTERNAL, ALTER tags SET STORAGE EXTERNAL;"
        )
        if name in _FULL:
            made.append(f"ALTER TABLE {name} REPLICA IDENTITY FULL;")
        made += [_insert(name, at, f"repeat('{at}', {LONG})") for at in range(5)]
    made.append(f"CREATE PUBLICATION penstock FOR TABLE {', '.join(NAMES)};")
    return "\n".join(made)


def change_at_random(random: Random, transactions: int, *, truncates: bool = True) -> str:
    """Return the SQL of transactions of all kinds; a tenth of them is rolled back."""
    made = []
    for _ in range(transactions):
        statements = [_change(random, truncates) for _ in range(random.randrange(1, 5))]
        end = "ROLLBACK" if random.random() < 0.1 else "COMMIT"
        made.append(f"BEGIN; {' '.join(statements)} {end};")
    return "\n".join(made)


def _change(random: Random, truncates: bool) -> str:
    name, at, other = random.choice(NAMES), random.randrange(20), random.randrange(20, 40)
    long = f"repeat('{random.randrange(9)}', {random.choice([3, LONG])})"
    kinds = [
        *[_insert(name, at, long)] * 3,
        *[f"UPDATE {name} SET rate = {random.randrange(999)} / 100.0 WHERE id = {at};"] * 5,
        f"UPDATE {name} SET plot = {long}, tags = ARRAY[{long}, 'x'] WHERE id = {at};",
        f"UPDATE {name} SET title = 'all', number = number + 1;",
        *[f"DELETE FROM {name} WHERE id = {at};"] * 2,
        f"DELETE FROM {name} WHERE id = {other};"
        f" UPDATE {name} SET id = {other}, plot = 'moved', tags = NULL WHERE id = {at};",
    ]
    if truncates and random.random() < 0.02:
        return f"TRUNCATE {name};"
    return random.choice(kinds)


def _insert(name: str, at: int, plot: str) -> str:
    return (
        f"INSERT INTO {name} (id, title, plot, tags, rate, number, changed) VALUES ({at}, 'new',"
        f" {plot}, ARRAY['a', NULL], 0.99, {at}, '2026-11-21 12:00:00.5+00')"
        " ON CONFLICT DO NOTHING;"
    )


def write_marks(title: str) -> str:
    """Return the SQL of the last row of each table."""
    row = f"(id, title) VALUES ({MARK}, '{title}')"
    update = f"ON CONFLICT (id) DO UPDATE SET title = '{title}'"
    return "\n".join(f"INSERT INTO {name} {row} {update};" for name in NAMES)


def read_database(capture: Capture, name: str) -> dict[int, dict[str, Any]]:
    """Return the rows of a table by their id, as the records of Debezium have their values."""
    lines = capture.query(f"SELECT row_to_json(t) FROM {name} t").splitlines()
    return {row["id"]: _normalise(row) for row in map(json.loads, lines)}


def _normalise(row: dict[str, Any]) -> dict[str, Any]:
    rate, changed = row["rate"], row["changed"]
    return row | {
        "rate": None if rate is None else f"{rate:.2f}",
        "changed": changed and re.sub(r"\+00:00|Z", "", changed),
    }


def read_current(spark: SparkSession, name: str, where: str = "TRUE") -> dict[int, dict[str, Any]]:
    """Return the rows of the table that the job writes, by their id."""
    rows = [
        {column: value for column, value in row.asDict().items() if not column.startswith("_")}
        for row in spark.table(name).filter(where).collect()
    ]
    assert len({row["id"] for row in rows}) == len(rows)
    found = [{**row, "changed": row["changed"] and _trim(row["changed"])} for row in rows]
    return {row["id"]: row for row in found}


def create_item_table(database: Any, name: str) -> Any:
    """Make a table of DynamoDB for rows by their id."""
    return make_table(database, name, "id")


def create_items(database: Any, name: Callable[[str], str]) -> dict[str, Any]:
    """Make a table of DynamoDB for each of the tables."""
    return {table: create_item_table(database, name(table)) for table in NAMES}


def read_items(table: Any) -> dict[int, dict[str, Any]]:
    """Return the rows of a table of DynamoDB that the job writes, by their id."""
    items = [each for each in table.scan()["Items"] if "_deleted" not in each]
    rows = [
        {name: value for name, value in each.items() if not name.startswith("_")}
        | {"id": int(each["id"]), "changed": each["changed"] and _trim(each["changed"])}
        for each in items
    ]
    return {row["id"]: row for row in rows}


def _trim(moment: str) -> str:
    text = moment.removesuffix("Z")
    return text.rstrip("0").rstrip(".") if "." in text else text


def check_versions(versions: Iterable[Row], changes: Iterable[tuple[str, int | None, int]]) -> None:
    """Check that a history has a version for each change, and a gap only where a row was deleted.

    `changes` are the records of the topic, each (op, id, lsn).
    """
    made = {(id, lsn) for op, id, lsn in changes if op in {"c", "u", "r"}}
    ended = {(id, lsn) for op, id, lsn in changes if op in {"d", "t"}}
    assert {(each.id, each._lsn) for each in versions} == made
    by_id: dict[int, list[Row]] = {}
    for each in sorted(versions, key=lambda row: (row._lsn, row._offset)):
        by_id.setdefault(each.id, []).append(each)
    for id, found in by_id.items():
        for one, other in pairwise(found):
            if (one._until_lsn, one._until_offset) == (other._lsn, other._offset):
                assert one._valid_to == other._valid_from
            else:
                assert ended & {(id, one._until_lsn), (None, one._until_lsn)}
                assert one._until_lsn <= other._lsn
