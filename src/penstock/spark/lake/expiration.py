"""Expiration of a table's old snapshots, which its metadata lists and every commit writes again."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import tee
from typing import Final
from zlib import crc32

from penstock.spark.lake.iceberg import IcebergTable
from penstock.tables import LEAST_KEPT_HOURS, WriterRecord, list_writers, refresh_record

HOUR_MS: Final = 3_600_000
MAX_AGE: Final = "history.expire.max-snapshot-age-ms"
DEFAULT_AGE_MS: Final = 5 * 24 * HOUR_MS
# Each is some 1.1 kB of JSON, which is parsed and written at each commit.
_MOST_SNAPSHOTS: Final = 10_000


class Expiration:
    """Expires old snapshots of a table while a job writes to it, at most once an hour.

    Snapshots are kept for as long as the table says. Of more than `most`, those of the last day
    are kept, which say which batches the table has.
    """

    def __init__(self, clock: Callable[[], float] = time.time, most: int = _MOST_SNAPSHOTS) -> None:
        self._clock = clock
        self._most = most
        self._next_ms = 0

    def expire(self, table: IcebergTable) -> None:
        """Expire the old snapshots of a table that was just loaded or refreshed, if it is due."""
        now_ms = int(self._clock() * 1_000)
        if now_ms < self._next_ms:
            return
        self._next_ms = now_ms + HOUR_MS
        age_ms = int(table.properties().get(MAX_AGE, DEFAULT_AGE_MS))
        age_ms = find_age(age_ms, table.count_snapshots(), self._most)
        before_ms = now_ms - age_ms
        if table.oldest_ms() < before_ms - _find_delay(table.name, age_ms):
            expire_snapshots(table, before_ms)


def find_age(age_ms: int, count: int, most: int) -> int:
    """Return the age at which snapshots expire, if the table says `age_ms` and has `count`."""
    return age_ms if count <= most else min(age_ms, LEAST_KEPT_HOURS * HOUR_MS)


def _find_delay(name: str, age_ms: int) -> int:
    """Return for how long old snapshots wait for others: a twentieth to a tenth of their age.

    Each expiry reads a file of each snapshot that is kept, so it is done for many at once, and for
    the tables of a job at different times.
    """
    return int(age_ms * (1 + crc32(name.encode()) / 2**32) / 20)


def expire_snapshots(table: IcebergTable, before_ms: int) -> None:
    """Update the record of each query, then expire the snapshots with its markers."""
    refresh_writers(table)
    table.expire(before_ms)


def refresh_writers(table: IcebergTable) -> None:
    """Update the record of each query from the markers in the table's snapshots."""
    now, writers = table.sequence(), list_writers(table.properties())
    walks = tee(table.commits(), len(writers))  # a query that is over has no marker to stop at
    refreshed = {
        WriterRecord.property_of(query): refresh_record(commits, query, record, now).to_property()
        for commits, (query, record) in zip(walks, writers.items(), strict=True)
    }
    if refreshed:
        table.set_properties(refreshed)
