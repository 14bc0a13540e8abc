"""A transform of your own: only readings of 30 degrees and more become rows.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/consume.py \\
        --transform examples/keep_hot.py --lake-table DATABASE.hot ...

`jobs/replay.py` takes the same flag, and writes dead letters as the job would have written them.
"""

from __future__ import annotations

from pyspark.sql import DataFrame


def transform(rows: DataFrame) -> DataFrame:
    """Return the rows of hot readings; a schema version without a temperature has none."""
    if "temperature" not in rows.select("event.*").columns:
        return rows.limit(0)
    return rows.filter("event.temperature >= 30")
