"""The job of change data capture: topics of Debezium become tables equal to the database's.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/cdc.py --contract FILE \\
        --topic-pattern 'pagila\\.public\\..*' --checkpoint s3://... \\
        --current-table 'DATABASE.{table}' --errors-table TABLE ...

It follows new schema versions without a restart, and prints one line of JSON for each batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.packages import explain_missing_packages

with explain_missing_packages():
    from penstock.extensions.cdc.spark import CdcSettings, start_cdc
    from penstock.kafka import TopicIds
    from penstock.spark import await_end, read_job


def main(argv: Sequence[str] | None = None) -> None:
    """Write changes to the end of the topics, or without end, as the settings say."""
    spark, settings = read_job("cdc", CdcSettings, argv)
    query = start_cdc(spark, settings)
    await_end(query, TopicIds(settings.kafka), settings.read.topics)


if __name__ == "__main__":
    main()
