"""The job of change data capture in this process: its runs, and queries of what it wrote."""

from __future__ import annotations

import io
import os
import socket
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from demo.accounts import REGION
from demo.spark import start_spark
from penstock.extensions.cdc.spark import CdcSettings, open_query
from penstock.kafka import KafkaSettings, Security
from penstock.registry import RegistrySettings
from penstock.sinks import DeadLetterSettings
from penstock.spark.failures import LoggedErrors
from penstock.spark.session import keep_lookups
from penstock.spark.settings.consume import ReadSettings, Starting
from penstock.spark.settings.lease import LeaseSettings

_CATALOG = "spark.sql.catalog.lake"


@dataclass(frozen=True, slots=True)
class Lake:
    """A Spark session whose tables are in a folder, and the brokers and the registry."""

    spark: SparkSession
    folder: Path
    kafka: KafkaSettings
    registry: str

    def run_job(self, topics: str, **outputs: Any) -> None:
        """Run the job from where it ended to the end of the topics."""
        settings = CdcSettings(
            kafka=self.kafka,
            read=ReadSettings(topic_pattern=topics, starting=Starting.EARLIEST),
            schemas=RegistrySettings(f"apicurio+{self.registry}"),
            lease=LeaseSettings(),
            checkpoint=(self.folder / "checkpoint").as_uri(),
            dead_letters=DeadLetterSettings("none", "none"),
            **outputs,
        )
        query = open_query(self.spark, settings, LoggedErrors())
        with redirect_stdout(io.StringIO()):  # the lines of batches
            query.start(availableNow=True).awaitTermination()

    def query(self, sql: str) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        return [row.asDict(recursive=True) for row in self.spark.sql(sql).collect()]

    def name_files(self, view: str, *parts: str) -> None:
        """Create a view, by this name, of the Parquet files in a folder of the lake."""
        path = str(self.folder.joinpath(*parts))
        self.spark.read.parquet(path).createOrReplaceTempView(view)


def start_lake(folder: Path, names: Mapping[str, str], keys: Mapping[str, str]) -> SparkSession:
    """Start Spark with the catalog of the lake in a folder; brokers have these names."""
    os.environ.update(keys)
    hosts = folder / "hosts"
    known = {"localhost": "127.0.0.1", socket.gethostname(): "127.0.0.1", **names}
    hosts.write_text("".join(f"{address} {name}\n" for name, address in known.items()))
    catalog = {
        _CATALOG: "org.apache.iceberg.spark.SparkCatalog",
        f"{_CATALOG}.type": "hadoop",
        f"{_CATALOG}.warehouse": str(folder / "lake"),
        f"{_CATALOG}.cache-enabled": "false",
    }
    options = f"-Djdk.net.hosts.file={hosts} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    spark = start_spark(folder, {**catalog, "spark.driver.extraJavaOptions": options})
    keep_lookups(spark)
    return spark


def log_in(servers: str, ca_file: Path) -> KafkaSettings:
    """Return the login by IAM with the keys of the environment."""
    return KafkaSettings(
        bootstrap_servers=tuple(servers.split(",")),
        security=Security.IAM,
        ca_file=str(ca_file),
        region=REGION,
    )
