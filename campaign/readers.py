"""Readers of topic, registry, tables and buckets, which know nothing of the code that wrote them.

The lake is read by pyiceberg, the registry and buckets by boto3, and the topic by kafka-python; the
rows of DynamoDB are given.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from kafka import KafkaConsumer

from campaign.history import Letter, Record, Row
from systems.readers import load_lake, read_topic

Rows = Sequence[tuple[str, Row]]


def read_records(servers: str, topic: str) -> list[Record]:
    """Return all records of the topic, in the order of each partition."""
    with closing(KafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False)) as consumer:
        return [
            Record(each.partition, each.offset, each.timestamp, each.value, topic, each.key or b"")
            for each in read_topic(consumer, topic)
        ]


def read_versions(glue: Any, registry: str, schema: str) -> dict[str, str]:
    """Return the definitions of all versions by id."""
    asked = {"SchemaId": {"RegistryName": registry, "SchemaName": schema}}
    pages = glue.get_paginator("list_schema_versions").paginate(**asked)
    ids = [each["SchemaVersionId"] for page in pages for each in page["Schemas"]]
    return {each: glue.get_schema_version(SchemaVersionId=each)["SchemaDefinition"] for each in ids}


def read_table(rows: Iterable[Row]) -> Rows:
    """Return the rows of a table of DynamoDB, each with the place of its record."""
    return [(str(row["_source"]), row) for row in rows]


def read_letters(rows: Iterable[Row]) -> list[Letter]:
    """Return the dead letters of a table, which may have other rows too."""
    return [
        Letter(
            "/".join(str(row["id"]).split("/")[:3]),
            str(row["reason"]),
            bytes(row["value"]),
            "doneAt" in row,
        )
        for row in rows
        if "reason" in row
    ]


def read_lake(endpoint: str, database: str, table: str) -> Rows:
    """Return the rows of a table of the lake, each with the place of its record."""
    rows = list_lake(endpoint, database, table)
    return [("{_topic}/{_kafka_partition}/{_offset}".format(**row), row) for row in rows]


def list_lake(endpoint: str, database: str, table: str) -> list[Row]:
    """Return the rows of a table of the lake, none if there is no table yet."""
    catalog = load_lake(endpoint)
    if not catalog.table_exists((database, table)):
        return []
    rows: list[Row] = catalog.load_table((database, table)).scan().to_arrow().to_pylist()
    return rows


def read_bucket(s3: Any, bucket: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON documents of a bucket by key; those that are known are not read again."""
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    keys = [each["Key"] for page in pages for each in page.get("Contents", ())]
    return {
        key: known[key]
        if key in known
        else _read_document(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
        for key in keys
    }


def _read_document(content: bytes) -> Any:
    """Return a document, None if it is not one of JSON."""
    try:
        return json.loads(content)
    except ValueError:
        return None
