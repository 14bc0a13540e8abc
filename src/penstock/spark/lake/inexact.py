"""Rows with a whole number that a table's column would round: they become dead letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from penstock.consuming import ErrorSink
from penstock.errors import Failure, LostRecordsError, Reason
from penstock.spark.failures import store_rows_as_dead_letters
from penstock.spark.lake.conversion import find_inexact
from penstock.spark.rows import event_type


def write_exact(
    rows: DataFrame,
    columns: StructType,
    table: str,
    errors: ErrorSink,
    write: Callable[[DataFrame], None],
) -> Mapping[Reason, int]:
    """Write the rows that the columns can hold, and file the others as dead letters.

    Raises:
        LostRecordsError: Kafka deleted such records before they were dead letters.
    """
    inexact = find_inexact(event_type(rows), columns)
    if not inexact:
        write(rows)
        return {}
    condition = F.expr(" OR ".join(inexact.values()))
    seen = Observation()
    observed = rows.observe(seen, F.count_if(condition).alias("inexact"))
    write(observed.filter(~condition))
    dead_letters = store_inexact(rows, columns, table, errors)
    if sum(dead_letters.values()) != seen.get["inexact"]:
        raise LostRecordsError(
            f"{table} could not hold {seen.get['inexact']} records exactly, and a later "
            f"pass found {sum(dead_letters.values())} of them, expected all: Kafka deleted the "
            "others meanwhile"
        )
    return dead_letters


def store_inexact(
    rows: DataFrame, columns: StructType, table: str, errors: ErrorSink
) -> Mapping[Reason, int]:
    """Store rows as dead letters if the columns cannot hold them exactly."""
    inexact = find_inexact(event_type(rows), columns)
    if not inexact:
        return {}
    failure = Failure(
        Reason.LOSSY_WIDENING,
        f"found a whole number that a double would round, in {', '.join(inexact)}, expected "
        f"one that {table} can hold: its column is double since another query widened it",
    )
    return store_rows_as_dead_letters(rows.filter(" OR ".join(inexact.values())), failure, errors)
