"""Sales in Avro through Apicurio: a producer, the enrichment stream, and its newest results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from jobs.sales.artifacts import PREFIX
from jobs.sales.avro import (
    TopicSchemas,
    as_sales,
    decode_totals,
    encode_sale,
    encode_totals,
    find_schema,
    load_csv,
)
from jobs.sales.lake import merge_totals
from jobs.sales.producing import produce_sales
from jobs.sales.records import AMOUNT, load_regions
from jobs.sales.reports import print_batches
from jobs.sales.results import write_records
from jobs.sales.settings import ProduceSettings, StreamSettings, SummarySettings
from jobs.sales.streams import start_totals
from jobs.sales.summaries import (
    REGION,
    WINDOW,
    count_once,
    join_regions,
    latest_rows,
    total_in_windows,
    trust_times,
)
from penstock.registry import ApicurioAdmin, SchemaRegistry, load_admin, load_registry
from penstock.settings import Settings, nested, setting
from penstock.spark import (
    BatchId,
    MergedTable,
    ReadSettings,
    StatefulQuery,
    open_stream,
    read_topics,
)

_SALE: Final = {"payment_id": "INT", "amount": AMOUNT.simpleString(), "country": "STRING"}


@dataclass(frozen=True, slots=True)
class ArtifactSettings(Settings):
    """The Apicurio Registry with the artifacts."""

    registry_url: str = setting(
        "SALES_REGISTRY_URL", "URL of Apicurio Registry, as http://HOST:PORT"
    )
    prefix: str = setting("SALES_PREFIX", "prefix of the names of artifacts", default=PREFIX)

    def load(self) -> SchemaRegistry:
        """Build the registry, without a call to it."""
        return load_registry(self._url())

    def admin(self) -> ApicurioAdmin:
        """Build the registry for its operator, without a call to it."""
        admin = load_admin(self._url())
        if not isinstance(admin, ApicurioAdmin):
            raise AssertionError(f"found {admin}, expected Apicurio's registry")
        return admin

    def _url(self) -> str:
        return f"apicurio+{self.registry_url.rstrip('/')}?naming=record"


@dataclass(frozen=True, slots=True)
class ProduceAvroSettings(Settings):
    """Settings of `produce-avro`."""

    produce: ProduceSettings = nested(ProduceSettings)
    registry: ArtifactSettings = nested(ArtifactSettings)


@dataclass(frozen=True, slots=True)
class EnrichSettings(Settings):
    """Settings of `enrich`."""

    stream: StreamSettings = nested(StreamSettings)
    registry: ArtifactSettings = nested(ArtifactSettings)

    def problems(self) -> Iterator[str]:
        """Yield a problem if there are several topics, or none for the totals."""
        yield from _check_topics(self.stream.summary.read)
        if not self.stream.output_topic:
            yield "SALES_OUTPUT_TOPIC (--output-topic) is missing, expected a topic for the totals"


@dataclass(frozen=True, slots=True)
class ResultsAvroSettings(Settings):
    """Settings of `results-avro`."""

    summary: SummarySettings = nested(SummarySettings)
    registry: ArtifactSettings = nested(ArtifactSettings)

    def problems(self) -> Iterator[str]:
        """Yield a problem if there are several topics."""
        yield from _check_topics(self.summary.read)


def _check_topics(read: ReadSettings) -> Iterator[str]:
    if len(read.topics or ()) > 1 or read.topic_pattern:
        found = read.topic_pattern or ", ".join(read.topics)
        yield f"found topics {found}, expected one in --topics: its artifacts have its name"


def produce_avro(spark: SparkSession, settings: ProduceAvroSettings) -> None:
    """Write a file of sales to a topic in Avro, one row after another at the rate."""
    registry = settings.registry.load()
    schemas = TopicSchemas.load(registry, settings.produce.topic)
    files = settings.produce.files
    newest = find_schema(registry, f"{settings.registry.prefix}.csv")[-1]
    rows = load_csv(spark, files.locate(files.sales_file), newest.schema).collect()
    produce_sales(settings.produce, rows, partial(encode_sale, schemas))


def run_enrichment(spark: SparkSession, settings: EnrichSettings) -> StreamingQuery:
    """Follow sales in Avro, and write the totals of regions in windows in Avro.

    A schema that gains a column does not stop it. It returns when the query ends.
    """
    stream, registry = settings.stream, settings.registry.load()
    summary = stream.summary
    (topic,) = summary.read.topics
    sales, totals = (TopicSchemas.load(registry, name) for name in (topic, stream.output_topic))
    regions = load_regions(spark, summary.files.locate(summary.files.regions_file)).persist()
    table = MergedTable(stream.output_table) if stream.output_table else None

    def write(rows: DataFrame, batch: BatchId) -> None:
        records = encode_totals(rows, totals, batch)
        write_records(records, summary.kafka, stream.output_topic)
        if table:
            merge_totals(rows, REGION, table)

    with print_batches(spark) as lines:

        def start(rows: DataFrame) -> StreamingQuery:
            totals = summarize(as_sales(rows), regions, stream.times.ahead)
            return start_totals(totals, stream, write, lines)

        query = StatefulQuery(
            stream=open_stream(spark, summary.kafka, summary.read),
            registries=sales.registries(registry),
            columns=_SALE,
            start=start,
        )
        return query.run(sales.known)


def summarize(sales: DataFrame, regions: DataFrame, ahead: str) -> DataFrame:
    """Return the totals of each region in windows; a payment that came twice counts once."""
    once = count_once(trust_times(sales, ahead))
    return total_in_windows(join_regions(once, regions), REGION)


def read_summary(spark: SparkSession, settings: ResultsAvroSettings) -> DataFrame:
    """Return the newest total of each region and window in a topic."""
    registry, summary = settings.registry.load(), settings.summary
    (topic,) = summary.read.topics
    schemas = TopicSchemas.load(registry, topic)
    records = read_topics(spark, summary.kafka, summary.read)
    totals = decode_totals(records, schemas, schemas.registries(registry))
    return latest_rows(totals, REGION, WINDOW)
