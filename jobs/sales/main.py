"""The sales jobs: one program, and a command for each job.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/sales/main.py COMMAND \\
        --parameters /sales --topics sales ...

| command | job |
| --- | --- |
| generate | write the files of our own data set to the bucket |
| seed | write a file of sales to a topic, all rows at once |
| produce | write a file of sales to a topic, one row after another at a rate |
| summarize | print the totals of a topic and write them to the bucket as one CSV file |
| totals | follow a topic and print running totals, or write them to a topic |
| windows | the same in windows of ten minutes that begin every five minutes |
| results | print the newest results in a topic |
| draw | draw the results in topics as SVG files in the bucket |
| register | create the Avro artifacts in Apicurio again, and print each |
| produce-avro | the same as produce, in Avro |
| enrich | follow sales in Avro, and write totals of regions in windows in Avro |
| results-avro | print the newest of these totals |
| lake-summary | the same as summarize, over a table of the consuming job |
| lake-totals | follow a table of the consuming job, and merge running totals into another table |
| lake-windows | the same with totals in windows |
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from penstock.packages import explain_missing_packages

with explain_missing_packages():
    from pyspark.sql import DataFrame, Observation, Row, SparkSession

    from jobs.sales.artifacts import register_artifacts
    from jobs.sales.enrichment import (
        ArtifactSettings,
        EnrichSettings,
        ProduceAvroSettings,
        ResultsAvroSettings,
        produce_avro,
        read_summary,
        run_enrichment,
    )
    from jobs.sales.generated import make_files
    from jobs.sales.lake import LakeSettings, LakeStreamSettings, read_lake, start_lake
    from jobs.sales.pictures import draw_results
    from jobs.sales.producing import (
        build_message,
        ensure_sales_topic,
        produce_sales,
        seed_topic,
    )
    from jobs.sales.records import load_sales, read_sales
    from jobs.sales.reports import print_batches
    from jobs.sales.results import print_table, read_history, read_results, write_file
    from jobs.sales.settings import (
        FileSettings,
        Key,
        ProduceSettings,
        ReportSettings,
        StreamSettings,
        SummarySettings,
        TimeSettings,
        TotalsSettings,
        add_parameters,
    )
    from jobs.sales.streams import choose_write, start_totals
    from jobs.sales.summaries import (
        WINDOW,
        add_regions,
        total_in_windows,
        total_sales,
        trust_times,
    )
    from penstock.errors import SettingsError
    from penstock.kafka import TopicIds
    from penstock.settings import Settings
    from penstock.spark import Checkpoint, await_end, open_stream, read_job, read_topics, write_text

_Kind = TypeVar("_Kind", bound=Settings)


def generate(argv: Sequence[str]) -> None:
    """Write the files of our own data set to the bucket."""
    spark, settings = _start(FileSettings, argv)
    for name, text in make_files().items():
        write_text(spark, settings.locate(name), text)


def seed(argv: Sequence[str]) -> None:
    """Write a file of sales to a topic, all rows at once."""
    spark, settings = _start(ProduceSettings, argv)
    seed_topic(settings, _load_rows(spark, settings.files))


def produce(argv: Sequence[str]) -> None:
    """Write a file of sales to a topic, one row after another at a rate."""
    spark, settings = _start(ProduceSettings, argv)
    build = partial(build_message, settings.topic)
    produce_sales(settings, _load_rows(spark, settings.files), build)


def summarize(argv: Sequence[str]) -> None:
    """Print the totals of a topic, and write all of them to the bucket as one CSV file."""
    spark, settings = _start(SummarySettings, argv)
    observation = Observation("sales")
    records = read_topics(spark, settings.kafka, settings.read)
    sales = add_regions(read_sales(records, observation), settings)
    _write_summary(sales, settings, observation)


def totals(argv: Sequence[str]) -> None:
    """Follow a topic, and print or write running totals."""
    _follow(TotalsSettings, argv, lambda sales, key, _: total_sales(sales, key))


def windows(argv: Sequence[str]) -> None:
    """Follow a topic, and print or write totals in sliding windows."""

    def total(sales: DataFrame, key: str, times: TimeSettings) -> DataFrame:
        return total_in_windows(trust_times(sales, times.ahead), key)

    _follow(StreamSettings, argv, total)


def results(argv: Sequence[str]) -> None:
    """Print the newest results in a topic."""
    spark, settings = _start(SummarySettings, argv)
    newest = read_results(read_topics(spark, settings.kafka, settings.read)).persist()
    has_windows = newest.filter(f"{WINDOW}.start IS NOT NULL").limit(1).count()
    print_table(newest if has_windows else newest.drop(WINDOW), settings.by, settings.rows)
    newest.unpersist()


def draw(argv: Sequence[str]) -> None:
    """Draw the results in topics as SVG files in the bucket."""
    spark, settings = _start(SummarySettings, argv)
    history = read_history(read_topics(spark, settings.kafka, settings.read))
    pictures = draw_results((row.name, row.sales, row.start, row.read) for row in history.collect())
    for name, text in pictures.items():
        write_text(spark, settings.files.locate(name, "spark_output"), text)


def register(argv: Sequence[str]) -> None:
    """Create the Avro artifacts in Apicurio again, and print each as Apicurio returns it."""
    words = add_parameters(ArtifactSettings, argv, os.environ)
    settings = ArtifactSettings.from_args(words, os.environ)
    for each in register_artifacts(settings.admin(), settings.prefix):
        print(json.dumps(each, indent=4))


def produce_in_avro(argv: Sequence[str]) -> None:
    """Write a file of sales to a topic in Avro, one row after another at a rate."""
    produce_avro(*_start(ProduceAvroSettings, argv))


def enrich(argv: Sequence[str]) -> None:
    """Follow sales in Avro, and write totals of regions in windows in Avro."""
    spark, settings = _start(EnrichSettings, argv)
    ensure_sales_topic(settings.stream.summary.kafka, settings.stream.output_topic)
    run_enrichment(spark, settings)


def results_in_avro(argv: Sequence[str]) -> None:
    """Print the newest totals in a topic in Avro."""
    spark, settings = _start(ResultsAvroSettings, argv)
    print_table(read_summary(spark, settings), Key.REGION, settings.summary.rows)


def summarize_lake(argv: Sequence[str]) -> None:
    """Print the totals of a table of the consuming job, and write them to the bucket."""
    spark, settings = _start(LakeSettings, argv)
    observation = Observation("sales")
    _write_summary(read_lake(spark, settings, observation), settings, observation)


def follow_lake(
    argv: Sequence[str], total: Callable[[DataFrame, str], DataFrame] = total_sales
) -> None:
    """Follow a table of the consuming job, and merge totals into another table."""
    spark, settings = _start(LakeStreamSettings, argv)
    with print_batches(spark) as lines:
        start_lake(spark, settings, total, lines).awaitTermination()


COMMANDS: Final[Mapping[str, Callable[[Sequence[str]], None]]] = {
    "generate": generate,
    "seed": seed,
    "produce": produce,
    "summarize": summarize,
    "totals": totals,
    "windows": windows,
    "results": results,
    "draw": draw,
    "register": register,
    "produce-avro": produce_in_avro,
    "enrich": enrich,
    "results-avro": results_in_avro,
    "lake-summary": summarize_lake,
    "lake-totals": follow_lake,
    "lake-windows": partial(follow_lake, total=total_in_windows),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command.

    Raises:
        SettingsError: there is no such command, or its settings are invalid.
    """
    command, *flags = (sys.argv[1:] if argv is None else argv) or [""]
    if command not in COMMANDS:
        raise SettingsError([f"found command {command!r}, expected {', '.join(COMMANDS)}"])
    COMMANDS[command](flags)


def _start(kind: type[_Kind], argv: Sequence[str]) -> tuple[SparkSession, _Kind]:
    return read_job("sales", kind, add_parameters(kind, argv, os.environ))


def _load_rows(spark: SparkSession, files: FileSettings) -> list[Row]:
    return load_sales(spark, files.locate(files.sales_file)).collect()


def _write_summary(sales: DataFrame, settings: ReportSettings, observation: Observation) -> None:
    """Print totals and write all of them to the bucket, then say how many records are no sales."""
    totals = total_sales(sales, settings.by).persist()
    print_table(totals, settings.by, settings.rows)
    name = f"sales_by_{settings.by}.csv"
    write_file(totals, settings.by, settings.files.locate(name, "spark_output"))
    print(json.dumps({"service": "sales", "out": totals.count(), **observation.get}))
    totals.unpersist()


def _follow(
    kind: type[StreamSettings],
    argv: Sequence[str],
    total: Callable[[DataFrame, str, TimeSettings], DataFrame],
) -> None:
    spark, settings = _start(kind, argv)
    summary = settings.summary
    Checkpoint(spark, settings.run.checkpoint).check_key(summary.by)
    if settings.output_topic:
        ensure_sales_topic(summary.kafka, settings.output_topic)
    records = open_stream(spark, summary.kafka, summary.read)
    sales = add_regions(read_sales(records), summary)
    totals = total(sales, summary.by, settings.times)
    with print_batches(spark) as lines:
        query = start_totals(totals, settings, choose_write(settings), lines)
        await_end(query, TopicIds(summary.kafka), summary.read.topics)


if __name__ == "__main__":
    main()
