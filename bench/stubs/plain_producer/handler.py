"""A producer as in a tutorial: boto3, kafka-python, one schema that is found by name."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import boto3
from kafka import KafkaProducer

_glue = boto3.client("glue")
_producer = KafkaProducer(bootstrap_servers=os.environ["KAFKA_BOOTSTRAP_SERVERS"].split(","))
_version = _glue.get_schema_version(
    SchemaId={"RegistryName": os.environ["REGISTRY"], "SchemaName": "sensor"},
    SchemaVersionNumber={"LatestVersion": True},
)["SchemaVersionId"]


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Write the event as JSON, with the schema's id in front."""
    record = {"deviceId": "000001", "timestamp": time.time_ns() // 1_000_000, **event}
    value = b"\x03\x00" + bytes.fromhex(_version.replace("-", "")) + json.dumps(record).encode()
    sent = _producer.send(os.environ["PENSTOCK_TOPIC"], value).get(10)
    return {"partition": sent.partition, "offset": sent.offset}
