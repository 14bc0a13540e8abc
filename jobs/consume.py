"""Reads topics, whatever schemas their records are in, and writes every record to tables.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/consume.py --contract FILE \\
        --secret-arn ARN --checkpoint s3://... --lake-table DATABASE.TABLE --errors-table TABLE ...

New schemas are followed without a restart. Prints one line of JSON for each batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.kafka import TopicIds
from penstock.spark import ConsumeSettings, await_end, read_job, start_consuming


def main(argv: Sequence[str] | None = None) -> None:
    """Consume until there is nothing left, or for ever."""
    spark, settings = read_job("consume", ConsumeSettings, argv)
    query = start_consuming(spark, settings)
    await_end(query, TopicIds(settings.kafka), settings.read.topics)


if __name__ == "__main__":
    main()
