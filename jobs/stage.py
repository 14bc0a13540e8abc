"""The staging job: topics become tables, as a configuration file says.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/stage.py --plan s3://... \\
        --secret-arn ARN --checkpoint s3://... --dynamodb-table PREFIX-{table} \\
        --errors-table TABLE --parked-bucket BUCKET

It follows new schema versions without a restart, and prints one line of JSON for each batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.packages import explain_missing_packages

with explain_missing_packages():
    from penstock.extensions.staging.spark import read_stage_job, start_staging
    from penstock.kafka import TopicIds
    from penstock.spark import await_end


def main(argv: Sequence[str] | None = None) -> None:
    """Stage to the end of the topics, or without end, as the settings say."""
    spark, settings, plan = read_stage_job("stage", argv)
    query = start_staging(spark, settings, plan)
    await_end(query, TopicIds(settings.kafka), settings.read.topics)


if __name__ == "__main__":
    main()
