"""The consume job: reads topics with records of any schema version and writes tables.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/consume.py --contract FILE \\
        --secret-arn ARN --checkpoint s3://... --lake-table DATABASE.TABLE --errors-table TABLE ...

It follows new schema versions without a restart, and prints one line of JSON for each batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.packages import explain_missing_packages

with explain_missing_packages():
    from penstock.kafka import TopicIds
    from penstock.spark import ConsumeSettings, await_end, read_job, start_consuming


def main(argv: Sequence[str] | None = None) -> None:
    """Consume to the end of the topics, or without end, as the settings say."""
    spark, settings = read_job("consume", ConsumeSettings, argv)
    query = start_consuming(spark, settings)
    await_end(query, TopicIds(settings.kafka), settings.read.topics)


if __name__ == "__main__":
    main()
