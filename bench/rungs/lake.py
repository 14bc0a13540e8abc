"""Rungs of `penstock schema drift` and `sync`: the calls of AWS that they make."""

from __future__ import annotations

import time

from bench.ladder import Form, Result, most
from bench.stubs.lake import DATABASE, make_tables
from penstock.extensions.drift import TableTarget, inspect_tables, sync_tables
from penstock.schemas import Schema, merge_schemas
from penstock.tables import read_event

_TABLES, _FILES = 1_000, 10
_VERSIONS = 200
# A call for 100 tables, three for the metadata of a table, and one for each file.
_MOST_CALLS = _TABLES // 100 + 3 * _TABLES + _TABLES * _FILES


def _version(fields: int) -> Schema:
    names = ["day", *(f"field{at}" for at in range(fields))]
    optional = [
        {"name": name, "type": ["null", "int" if name == "day" else "long"], "default": None}
        for name in names
    ]
    return {"type": "record", "name": "event", "fields": optional}


def _drift(_: Form) -> Result:
    clients = make_tables(_TABLES, _FILES)
    event = read_event(merge_schemas([_version(1)]))
    tables = tuple(f"{DATABASE}.{name}" for name in clients.tables)
    started = time.perf_counter()
    found = inspect_tables([TableTarget(event, tables)], clients=clients)
    seconds = time.perf_counter() - started
    if found.files != _TABLES * _FILES:
        raise AssertionError(f"{found.files} footers were read")
    calls = {name: float(count) for name, count in found.calls.items()}
    return Result(sum(calls.values()), "calls", calls | {"seconds": round(seconds, 1)})


def _sync(_: Form) -> Result:
    clients = make_tables(1, 0)
    started = time.perf_counter()
    event = read_event(merge_schemas([_version(at) for at in range(1, _VERSIONS + 1)]))
    target = TableTarget(event, (f"{DATABASE}.t0000",))
    (synced,) = sync_tables([target], apply=True, clients=clients)
    seconds = time.perf_counter() - started
    calls = {name: float(count) for name, count in clients.calls.items()}
    left = sync_tables([target], apply=True, clients=clients)[0].changes
    if left or not synced.applied:
        raise AssertionError(f"{len(left)} changes are left")
    return Result(calls["UpdateTable"], "commits", calls | {"seconds": round(seconds, 1)})


LAKE = (
    most(
        "drift-1000",
        "AWS calls of `penstock schema drift` for 1,000 Iceberg tables with 10,000 Parquet files",
        _MOST_CALLS,
        _drift,
    ),
    most(
        "sync-200",
        "commits of `penstock schema sync` for a table that lacks the fields of 200 versions",
        1,
        _sync,
    ),
)
