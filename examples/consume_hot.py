"""The consuming job with a transform of your own: only readings of 30 degrees and more.

    spark-submit --py-files penstock-pyfiles.zip --jars ... examples/consume_hot.py \\
        --contract FILE --secret-arn ARN --checkpoint s3://... --lake-table DATABASE.hot ...

It takes the flags of jobs/consume.py and uses checkpoint, lease and sinks as that job does.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from penstock.spark import ConsumeSettings, read_job, start_consuming


def keep_hot(rows: DataFrame) -> DataFrame:
    """Return the rows of hot readings; a schema version without a temperature has none."""
    if "temperature" not in rows.select("event.*").columns:
        return rows.limit(0)
    return rows.filter("event.temperature >= 30")


def main(argv: Sequence[str] | None = None) -> None:
    """Consume to the end of the topics, or without end, as the settings say."""
    spark, settings = read_job("consume-hot", ConsumeSettings, argv)
    start_consuming(spark, settings, transform=keep_hot).awaitTermination()


if __name__ == "__main__":
    main()
