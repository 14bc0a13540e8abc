"""Readers of what systems wrote, which know nothing of these systems' code.

Tables are read by pyiceberg from their newest metadata file, rows of DynamoDB and objects of S3 by
boto3, and dead letters in topics by kafka-python.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import boto3
from kafka import KafkaConsumer, TopicPartition
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import StaticTable
from pyiceberg.table import Table as IcebergTable

_VERSION: Final = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json")
_COMMENT: Final = re.compile(r'field ("(?:[^"\\]|\\.)*"|\w+)')
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_KEY, _REGION = "111111111111", "eu-central-1"
_OWN: Final = ("value", "valueAt")
_ERROR_HEADERS: Final = (
    "__connect.errors.exception.class.name",
    "__connect.errors.exception.message",
)

Table = list[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class IcebergTables:
    """The tables of a Hadoop catalog, as `WAREHOUSE/DATABASE/TABLE`."""

    folder: Path

    def read(self, change: str) -> Table:
        """Return the rows of a change's table, none if there is no table yet."""
        metadata = self.folder / change.replace("-", "_") / "metadata"
        files = {int(match[1]): each for each in metadata.glob("*.json")
                 if (match := _VERSION.fullmatch(each.name))}  # fmt: skip
        if not files:
            return []
        table = StaticTable.from_metadata(str(files[max(files)]))
        names = name_fields({each.name: each.doc for each in table.schema().fields})
        found = table.scan().to_arrow()
        columns = {name: _values(found[column]) for name, column in names.items()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def name_fields(comments: Mapping[str, str | None]) -> dict[str, str]:
    """Return the column of each field: the one whose comment names it, or that is named so."""
    named = {}
    for column, comment in comments.items():
        if match := _COMMENT.fullmatch(comment or ""):
            name = match[1]
            named[json.loads(name) if name.startswith('"') else name] = column
    return {column: column for column in comments if column not in named.values()} | named


def _values(column: Any) -> list[Any]:
    """Return the values of a column; a time that Python does not hold is a number."""
    try:
        return list(column.to_pylist())
    except OverflowError:
        return [_instant(each) for each in column.cast("int64").to_pylist()]


def _instant(micros: int | None) -> dt.datetime | int | None:
    try:
        return None if micros is None else _EPOCH + dt.timedelta(microseconds=micros)
    except OverflowError:
        return micros


@dataclass(frozen=True, slots=True)
class GlueTable:
    """A table in the lake of an account."""

    endpoint: str
    account: str
    name: str

    def read_ids(self) -> list[str]:
        """Return the `id` of each row."""
        table = self._load()
        if table is None:
            return []
        return [
            str(each) for each in table.scan(selected_fields=("id",)).to_arrow()["id"].to_pylist()
        ]

    def count_rows(self) -> int:
        """Return how many values the first column of its files has."""
        table = self._load()
        if table is None:
            return 0
        column = table.schema().fields[0].name
        return int(table.scan(selected_fields=(column,)).to_arrow().num_rows)

    def count(self) -> int:
        """Return how many rows the newest snapshot says it has, to wait for."""
        table = self._load()
        snapshot = table.current_snapshot() if table else None
        return int(snapshot.summary["total-records"] or 0) if snapshot and snapshot.summary else 0

    def _load(self) -> IcebergTable | None:
        try:
            return load_lake(self.endpoint, self.account).load_table(self.name)
        except NoSuchTableError:
            return None


@dataclass(frozen=True, slots=True)
class DynamoTables:
    """Tables of DynamoDB, one for each change."""

    endpoint: str
    prefix: str

    def read(self, change: str) -> Table:
        """Return the rows of a change's table."""
        return scan(self.endpoint, f"{self.prefix}{change}")


@dataclass(frozen=True, slots=True)
class DynamoLetters:
    """Dead letters in a table of DynamoDB, with large ones in S3."""

    endpoint: str
    table: str

    def read(self, change: str) -> list[bytes]:
        """Return the bytes of a change's dead letters."""
        return [self._bytes(row) for row in self._rows(change) if row.keys() & set(_OWN)]

    def describe(self, change: str) -> str:
        """Return the reason that the first of a change's dead letters gives."""
        first = next(iter(self._rows(change)), None)
        return f"{first['reason']}: {first['detail']}" if first else ""

    def _rows(self, change: str) -> Table:
        rows = scan(self.endpoint, self.table)
        return [row for row in rows if str(row["id"]).startswith(f"{change}/")]

    def _bytes(self, row: Mapping[str, Any]) -> bytes:
        if "value" in row:
            return bytes(row["value"])
        bucket, _, key = str(row["valueAt"]).removeprefix("s3://").partition("/")
        client = _session().client("s3", endpoint_url=self.endpoint)
        return bytes(client.get_object(Bucket=bucket, Key=key)["Body"].read())


class TopicLetters:
    """Dead letters in a topic for each change, whose name ends with a suffix."""

    def __init__(self, servers: str, suffix: str) -> None:
        self._consumer = KafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False)
        self._suffix = suffix

    def read(self, change: str) -> list[bytes]:
        """Return the values of all records of a change's topic of dead letters."""
        return [each.value for each in self._read_all(change) if each.value is not None]

    def describe(self, change: str) -> str:
        """Return the error that the headers of the first of a change's dead letters give."""
        first = next(self._read_all(change), None)
        headers = dict(first.headers) if first else {}
        return ": ".join(headers[name].decode() for name in _ERROR_HEADERS if headers.get(name))

    def _read_all(self, change: str) -> Iterator[Any]:
        topic = f"{change}{self._suffix}"
        return read_topic(self._consumer, topic) if topic in self._consumer.topics() else iter(())


def read_topic(consumer: KafkaConsumer, topic: str) -> Iterator[Any]:
    """Yield the records of a topic up to its end."""
    places = [TopicPartition(topic, each) for each in consumer.partitions_for_topic(topic)]
    consumer.assign(places)
    consumer.seek_to_beginning(*places)
    ends = consumer.end_offsets(places)
    while any(consumer.position(place) < end for place, end in ends.items()):
        for records in consumer.poll(1_000).values():
            yield from records


@cache  # a client of AWS takes half a second of CPU to make
def load_lake(endpoint: str, account: str = _KEY) -> Catalog:
    """Return the catalog of an account's lake: Glue, and files on S3."""
    keys = {"access-key-id": account, "secret-access-key": "any", "region": _REGION}
    both = keys | {"endpoint": endpoint}
    settings = {f"{at}.{name}": text for at in ("glue", "s3") for name, text in both.items()}
    return load_catalog("lake", type="glue", **settings)


class NoLetters:
    """A system without dead letters."""

    def read(self, change: str) -> list[bytes]:
        """Return none."""
        return []


def scan(endpoint: str, table: str, account: str = _KEY) -> Table:
    """Return all rows of a table of DynamoDB."""
    resource = _session(account).resource("dynamodb", endpoint_url=endpoint)
    rows: Table = []
    start: dict[str, Any] = {}
    while True:
        page = resource.Table(table).scan(ConsistentRead=True, **start)
        rows += page["Items"]
        if "LastEvaluatedKey" not in page:
            return rows
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def _session(account: str = _KEY) -> boto3.Session:
    return boto3.Session(account, "any", region_name=_REGION)
