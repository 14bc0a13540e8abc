"""The staging job: the topics of the publisher's tables, and the tables that are joined of them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import fastavro
from kafka import KafkaProducer

from demo.staging.publisher import SCHEMAS, Change
from localcloud.cloud import Cloud
from systems.clusters import Brokers
from systems.shop import RETRY_SECONDS, Shop
from systems.world import World


class Shipments(World):
    """Five topics, their tables and the final one."""

    def __init__(
        self, cloud: Cloud, client: Callable[..., Any], kafka: Brokers, folder: Path
    ) -> None:
        """Make topics, tables and the configuration file."""
        super().__init__(cloud, client, kafka, folder, "stage")
        self.topics = {table: self.create_topic(partitions=1) for table in SCHEMAS}
        self.shop = Shop(self.database, self.name, self.topics, self.errors, self.bucket)
        plan = folder / "plan.json"
        plan.write_text(self.shop.file)
        self.arguments |= {
            "--plan": str(plan),
            "--dynamodb-table": self.shop.staged,
            "--waiting-table": self.shop.waiting.name,
            "--retry-seconds": str(RETRY_SECONDS),
        }
        self._ids: dict[tuple[str, int], bytes] = {}

    def send(self, changes: Sequence[Change]) -> None:
        """Write changes to the topics of their tables, in order; a version is registered first."""
        servers = self.kafka.cluster.bootstrap_servers("PLAINTEXT")
        with closing(KafkaProducer(bootstrap_servers=servers)) as producer:
            sent = [
                producer.send(
                    self.topics[each.table], key=each.key.encode(), value=self.make_value(each)
                )
                for each in changes
            ]
            for future in sent:
                future.get(60)
        self.shop.take(changes)

    def make_value(self, change: Change) -> bytes | None:
        """Make the record's value as the libraries of Glue do."""
        if change.row is None:
            return None
        buffer = io.BytesIO()
        fastavro.schemaless_writer(buffer, SCHEMAS[change.table][change.version - 1], change.row)
        return bytes([3, 0]) + self.find_id(change.table, change.version) + buffer.getvalue()

    def find_id(self, table: str, version: int) -> bytes:
        """Return the id of a version, which is registered if it is new."""
        at = table, version
        if at not in self._ids:
            self._ids[at] = self._register(*at)
        return self._ids[at]

    def _register(self, table: str, version: int) -> bytes:
        registry = {"RegistryName": self.name}
        text = json.dumps(SCHEMAS[table][version - 1])
        if version == 1:
            made = self.glue.create_schema(
                RegistryId=registry, SchemaName=table, DataFormat="AVRO",
                Compatibility="BACKWARD", SchemaDefinition=text,
            )  # fmt: skip
        else:
            made = self.glue.register_schema_version(
                SchemaId=registry | {"SchemaName": table}, SchemaDefinition=text
            )
        return UUID(made["SchemaVersionId"]).bytes

    def close(self) -> None:
        """Take away what other tests could see."""
        self.shop.close()
        super().close()
