"""Sales and totals as plain Avro: keys are ints, and no frame is before a value.

Readers find a schema by the name of its artifact, TOPIC-key or TOPIC-value. Our records also have
Apicurio's headers with the global id of the version that wrote the value. So a reader that follows
ids reads a value of any version, and one that goes by the name ignores them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro

from jobs.sales.records import keep_sales, make_sale
from jobs.sales.results import write_headers
from jobs.sales.summaries import REGION, WINDOW
from penstock.errors import SchemaNotFoundError
from penstock.framing import ENCODING, GLOBAL_ID
from penstock.kafka import Message
from penstock.registry import Registries, SchemaRegistry, SchemaVersion
from penstock.schemas import Schema, encode
from penstock.spark import BatchId, KnownVersions, select_columns

_BINARY: Final = b"BINARY"
_EDGES: Final = ("start", "end")
_TOTAL: Final = {
    REGION: "STRING",
    "sales": "DECIMAL(20,2)",
    "orders": "BIGINT",
    **{f"{WINDOW}_{edge}": "BIGINT" for edge in _EDGES},
}
_POSITION: Final = {
    "_kafka_timestamp": "timestamp", "_kafka_partition": "partition", "_offset": "offset"
}  # fmt: skip


def find_schema(registry: SchemaRegistry, name: str) -> tuple[SchemaVersion, ...]:
    """Return the versions of an artifact, the newest last.

    Raises:
        SchemaNotFoundError: it does not exist.
        RegistryError: the registry cannot be asked.
    """
    if versions := registry.versions(name):
        return versions
    raise SchemaNotFoundError(
        f"{registry.source} has no artifact {name}, expected it to be registered: run the command"
        " `register` first"
    )


@dataclass(frozen=True, slots=True)
class TopicSchemas:
    """The newest schemas of the keys and values of a topic, and all versions for its values."""

    topic: str
    key: Schema
    versions: tuple[SchemaVersion, ...]

    @classmethod
    def load(cls, registry: SchemaRegistry, topic: str) -> Self:
        """Look the schemas up by the names of their artifacts; see `find_schema`."""
        keys, values = (find_schema(registry, f"{topic}-{part}") for part in ("key", "value"))
        return cls(topic, keys[-1].schema, values)

    @property
    def value(self) -> SchemaVersion:
        """The version that new values are written with."""
        return self.versions[-1]

    @property
    def known(self) -> KnownVersions:
        """The versions that a query knows from its start."""
        return KnownVersions(self.versions)

    def registries(self, registry: SchemaRegistry) -> Registries:
        """Return the registry for readers; values without a header have the newest version."""
        return Registries([registry], {self.topic: self.value.key})

    def headers(self) -> tuple[tuple[str, bytes], ...]:
        """Return the headers that name the version of a value."""
        return ((GLOBAL_ID, self.value.key.id), (ENCODING, _BINARY))


def load_csv(spark: SparkSession, path: str, schema: Schema) -> DataFrame:
    """Return the rows of a `|` CSV file with the columns of an Avro schema, each of which may be
    null.
    """
    row = from_avro(F.lit(None).cast("binary"), json.dumps(schema)).alias("row")
    columns = spark.range(0).select(row).select("row.*").schema
    return spark.read.csv(path, schema=columns, header=True, sep="|")


def encode_sale(schemas: TopicSchemas, row: Any, moment: datetime) -> Message:
    """Return the message of a row of a CSV file, which is sold at this moment."""
    return Message(
        schemas.topic,
        encode(make_sale(row, int(moment.timestamp())), schemas.value.schema),
        encode(row.customer_id, schemas.key),
        schemas.headers(),
        timestamp_ms=round(moment.timestamp() * 1000),
    )


def as_sales(rows: DataFrame) -> DataFrame:
    """Return the rows of `select_columns` under the names of sales from JSON."""
    return keep_sales(rows.withColumnsRenamed(_POSITION).drop("_topic"))


def encode_totals(totals: DataFrame, schemas: TopicSchemas, batch: BatchId) -> DataFrame:
    """Return totals in windows as records for Spark's Kafka sink; the key is the window's start."""
    edges = (F.unix_timestamp(f"{WINDOW}.{edge}").alias(f"{WINDOW}_{edge}") for edge in _EDGES)
    amounts = (F.col("sales").cast("float"), F.col("orders").cast("int"))
    flat = totals.select(REGION, *amounts, *edges)
    key = to_avro(F.col(f"{WINDOW}_start").cast("int"), json.dumps(schemas.key))
    value = to_avro(F.struct("*"), json.dumps(schemas.value.schema))
    headers = write_headers(batch, schemas.headers())
    return flat.select(key.alias("key"), value.alias("value"), headers)


def decode_totals(records: DataFrame, schemas: TopicSchemas, registries: Registries) -> DataFrame:
    """Return records of totals as rows with a window, and their positions in Kafka."""
    rows = select_columns(records, registries, _TOTAL, schemas.known)
    edges = (F.timestamp_seconds(f"{WINDOW}_{edge}").alias(edge) for edge in _EDGES)
    return rows.withColumnsRenamed(_POSITION).select(
        REGION, "sales", "orders", F.struct(*edges).alias(WINDOW), *_POSITION.values()
    )
