"""Rungs of the consumer: rows into DynamoDB, and the event of a mapping into rows."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import boto3
from aws_lambda_powertools.utilities.kafka.consumer_records import ConsumerRecords
from aws_lambda_powertools.utilities.kafka.schema_config import SchemaConfig
from boto3.dynamodb.types import TypeSerializer
from botocore.config import Config

from bench.ladder import Form, Result, Rung, compare, least, time_ways
from penstock.consuming import Consumer, read_records
from penstock.framing import encode_glue_frame
from penstock.records import ORDER, READING, Mode, Record, RowShape, Source, base_fields, make_row
from penstock.registry import CachedRegistry, Registries, load_registry
from penstock.schemas import encode, infer_schema, to_record
from penstock.sinks import DynamoDbClient, RowWriter, open_table

_ROWS, _BATCH = 100, 25  # in one call: four requests
_FIELDS = 20
_KEYS = "AKIA", "s" * 40, "t" * 600  # of a role: its id, secret and session token
_SHAPE = RowShape()
_UPSERTS = RowShape(("readingId",), sort_name=None, event_time=None, mode=Mode.UPSERT)
_VERSION = "d3e21a3b-f828-4ef7-a864-ea05cba14f2c"


def _make_rows(fields: int) -> list[dict[str, Any]]:
    """Return rows with this many attributes of an event."""
    values = ["running", 1_000, "0.5", True] * 5
    return [
        {
            "deviceId": f"{number % 10:06d}",
            "readingId": f"{1_795_239_498_031 + number}-sensor-0-{number}",
            **{f"field{at}": values[at] for at in range(fields - 2)},
        }
        for number in range(_ROWS)
    ]


@contextmanager
def running_dynamodb(milliseconds: float) -> Iterator[str]:
    """Start a stub in a process of its own, and yield its URL."""
    words = [sys.executable, "-m", "bench.stubs.dynamodb", str(milliseconds)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as stub:
        assert stub.stdout
        try:
            yield f"http://127.0.0.1:{int(stub.stdout.readline())}"
        finally:
            stub.kill()


@contextmanager
def _dynamodb(
    milliseconds: float, shape: RowShape = _SHAPE
) -> Iterator[tuple[RowWriter, Any, str]]:
    """Yield our writer of rows of a shape, boto3's table, and the URL of the stub behind them."""
    with running_dynamodb(milliseconds) as endpoint:
        session = boto3.Session(*_KEYS, region_name="eu-central-1")
        with patch.dict(os.environ, AWS_ENDPOINT_URL=endpoint):
            table = session.resource("dynamodb").Table("readings")
            client = DynamoDbClient(session._session)
        try:
            yield open_table(client, "readings", shape), table, endpoint
        finally:
            client.close()


def _by_batch_writer(table: Any, rows: list[dict[str, Any]]) -> None:
    with table.batch_writer() as batch:
        for row in rows:
            batch.put_item(row)


def _open_tuned(endpoint: str) -> Callable[[list[dict[str, Any]]], None]:
    """Return a writer with botocore as it is tuned: no checks of parameters, whole batches."""
    client: Any = boto3.Session(*_KEYS, region_name="eu-central-1").client(
        "dynamodb", endpoint_url=endpoint, config=Config(parameter_validation=False)
    )
    serialize = TypeSerializer().serialize

    def write(rows: list[dict[str, Any]]) -> None:
        for at in range(0, len(rows), _BATCH):
            puts = [
                {"PutRequest": {"Item": {name: serialize(value) for name, value in row.items()}}}
                for row in rows[at : at + _BATCH]
            ]
            client.batch_write_item(RequestItems={"readings": puts})

    return write


def _write_cpu(form: Form) -> Result:
    """Compare the CPU time of a row with that of the fastest way that boto3 has."""
    rows = _make_rows(_FIELDS)
    with _dynamodb(0) as (writer, table, endpoint):
        tuned = _open_tuned(endpoint)
        found = time_ways(
            {
                "product": lambda: writer.write(rows),
                "batch_writer": lambda: _by_batch_writer(table, rows),
                "tuned_botocore": lambda: tuned(rows),
            },
            max(form.calls // _ROWS, 1),
            items=_ROWS,
            clock=time.process_time,
        )
    parts = {f"{name}_cpu_microseconds": round(each, 2) for name, each in found.items()}
    return Result(found["tuned_botocore"] / found["product"], "times", parts)


def _upsert_slowly(form: Form) -> Result:
    rows = [row | {ORDER: "1"} for row in _make_rows(4)]
    with _dynamodb(5, _UPSERTS) as (writer, *_):
        ways = {"upserts": lambda: writer.write(rows)}
        found = time_ways(ways, max(form.calls // _ROWS, 1), items=_ROWS)
    return Result(1e6 / found["upserts"], "rows per second")


class _Nowhere:
    """Tables that accept everything and store nothing."""

    shape = _SHAPE

    def write(self, rows: Iterable[Mapping[str, Any]]) -> dict[int, Any]:
        """Read rows and drop them."""
        for _ in rows:
            pass
        return {}

    def keep(self, records: Sequence[Any]) -> None:
        """Ignore dead letters."""
        assert not records


def _read_batch(form: Form) -> Result:
    own = {"deviceId": "000001", "timestamp": 1_795_239_498_031}
    event = {
        f"{kind}{number}": value
        for number in range(5)
        for kind, value in (("status", "ok"), ("count", 1_000), ("load", 0.5), ("on", True))
    }
    schema = infer_schema(event, "sensor", base=base_fields(READING))
    payload = encode(to_record(event, schema, own), schema)
    registry = CachedRegistry(load_registry("memory://"))
    frame = encode_glue_frame(registry.register("sensor", schema).version.key, payload)
    rows: Any = _Nowhere()
    consumer = Consumer(Registries([registry]), rows, rows, "bench")
    config = SchemaConfig(value_schema_type="AVRO", value_schema=json.dumps(schema))
    framed, bare = _mapping_event(frame), _mapping_event(payload)

    def by_powertools() -> list[Any]:
        # It cannot read a Glue frame: it gets the payload only, and one schema for all.
        records = ConsumerRecords(bare, config).records
        return [
            make_row(
                _SHAPE,
                each.value,
                Record(Source("sensor", 0, each.offset), None, None),
                1,
                _VERSION,
            )
            for each in records
        ]

    assert len(by_powertools()) == consumer.consume(read_records(framed)).written == _ROWS
    return compare(
        lambda: consumer.consume(read_records(framed)),
        by_powertools,
        max(form.calls // _ROWS, 1),
        items=_ROWS,
        clock=time.process_time,
    )


def _mapping_event(value: bytes) -> dict[str, Any]:
    text = base64.b64encode(value).decode()
    common = {"topic": "sensor", "partition": 0, "timestamp": 1, "timestampType": "CREATE_TIME"}
    records = [
        {**common, "offset": offset, "key": "aw==", "value": text, "headers": []}
        for offset in range(_ROWS)
    ]
    return {"eventSource": "SelfManagedKafka", "records": {"sensor-0": records}}


ROWS: tuple[Rung, ...] = (
    least(
        "write-20",
        "What does a row of 20 attributes into DynamoDB cost, in CPU, against boto3's fastest way?",
        5,
        _write_cpu,
    ),
    least(
        "upsert-5ms",
        "How many upserts a second does one thread do, if DynamoDB answers each after 5 ms?",
        1_600,
        _upsert_slowly,
    ),
    least(
        "read-batch",
        "How fast does a function make rows of an event of 100 records, against Powertools?",
        4,
        _read_batch,
    ),
)
