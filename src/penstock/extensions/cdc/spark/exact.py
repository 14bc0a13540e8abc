"""Whole numbers that a double would round: a table that is equal to a database's holds none."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from penstock.errors import JobError
from penstock.records import Source
from penstock.spark.lake.conversion import quote_text


def check_exact(rows: DataFrame, inexact: Mapping[str, str], topic: str) -> None:
    """Check that no row meets a condition that a field has a whole number which would be rounded.

    Raises:
        JobError: one does.
    """
    if not inexact:
        return
    cases = " ".join(f"WHEN {each} THEN {quote_text(name)}" for name, each in inexact.items())
    place = f"MIN(STRUCT(_kafka_partition, _offset, CASE {cases} END AS field)) AS first"
    (row,) = rows.filter(" OR ".join(inexact.values())).selectExpr(place).collect()
    if row["first"] is not None:
        partition, offset, field = row["first"]
        raise JobError(
            f"found a whole number beyond 2^53 in {field} of {Source(topic, partition, offset)},"
            " expected one that its column holds: it is a double, which would round the number."
            " Write new tables with a new checkpoint, from a snapshot"
        )
