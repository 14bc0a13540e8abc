"""Reads records of a topic in a consumer's account, or writes one; needs nothing of Penstock.

Usage: client.py CLIENT.json TOPIC [--count N] [--write JSON]

CLIENT.json is one entry of the output `clients` of infra/consumer.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import uuid
import zlib
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import Any

import boto3
import fastavro
from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import AuthorizationError

_VERSION, _PLAIN, _ZLIB = 3, 0, 5  # the first bytes of a frame of AWS Glue
_HEADER_SIZE = 18  # the two, and the UUID of a schema version
_MOST_BYTES = 16 * 1024 * 1024  # of a record, decompressed
# What damaged bytes raise in zlib and fastavro.
_UNREADABLE = (ValueError, EOFError, LookupError, ArithmeticError, zlib.error)


def main() -> int:
    """Read or write; 1 if the brokers do not allow it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("client", type=lambda path: json.loads(Path(path).read_text()))
    parser.add_argument("topic")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--write", type=json.loads, metavar="JSON")
    given = parser.parse_args()
    try:
        if given.write is None:
            read(given.client, given.topic, given.count)
        else:
            write(given.client, given.topic, given.write)
    except AuthorizationError:
        what = "reads" if given.write is None else "writes"
        print(
            f"{given.topic} is not granted: ask the producer's account to add it to the topics that"
            f" this consumer {what}",
            file=sys.stderr,
        )
        return 1
    return 0


def read(client: dict[str, Any], topic: str, count: int) -> None:
    """Print records from where this group stopped, or from the beginning."""
    find_schema = cache(partial(get_schema, open_glue(client)))
    group = f"{client['group_prefix']}python"
    consumer = KafkaConsumer(
        topic,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **log_in(client),
    )
    with closing(consumer):
        for record in consumer:
            try:
                shown = {"value": decode(record.value, find_schema)}
            except _UNREADABLE as error:  # if Glue cannot be asked, another run reads the record
                shown = {"unreadable": str(error)}
            place = {"partition": record.partition, "offset": record.offset}
            print(json.dumps(place | shown, default=str), flush=True)
            consumer.commit()
            count -= 1
            if count == 0:
                return


def write(client: dict[str, Any], topic: str, value: dict[str, Any]) -> None:
    """Write a record under the newest version of the topic's schema."""
    newest = open_glue(client).get_schema_version(
        SchemaId={"RegistryName": client["registry"]["name"], "SchemaName": topic},
        SchemaVersionNumber={"LatestVersion": True},
    )
    payload = io.BytesIO()
    schema = json.loads(newest["SchemaDefinition"])
    fastavro.schemaless_writer(payload, schema, value, strict_allow_default=True)
    frame = bytes([_VERSION, _PLAIN]) + uuid.UUID(newest["SchemaVersionId"]).bytes
    with closing(KafkaProducer(**log_in(client))) as producer:
        written = producer.send(topic, frame + payload.getvalue()).get(timeout=30)
    print(json.dumps({"partition": written.partition, "offset": written.offset}))


def decode(value: bytes | None, find_schema: Any) -> Any:
    """Open the frame of a record, and read it with the schema that it names."""
    if value is None:
        return None
    if len(value) < _HEADER_SIZE or value[0] != _VERSION or value[1] not in {_PLAIN, _ZLIB}:
        raise ValueError("no frame of AWS Glue")
    payload = value[_HEADER_SIZE:]
    if value[1] == _ZLIB:
        payload = zlib.decompressobj().decompress(payload, _MOST_BYTES)
    schema = find_schema(str(uuid.UUID(bytes=value[2:_HEADER_SIZE])))
    return fastavro.schemaless_reader(io.BytesIO(payload), schema, None)


def get_schema(glue: Any, version_id: str) -> Any:
    """Return the schema of a version."""
    try:
        shown = glue.get_schema_version(SchemaVersionId=version_id)
    except glue.exceptions.EntityNotFoundException as error:
        raise ValueError(f"the registry has no version {version_id}") from error
    return fastavro.parse_schema(json.loads(shown["SchemaDefinition"]))


def open_glue(client: dict[str, Any]) -> Any:
    """Open the registry of the producer's account by the role that it trusts this one to assume."""
    registry = client["registry"]
    taken = boto3.client("sts", region_name=client["region"]).assume_role(
        RoleArn=registry["role_arn"], ExternalId=registry["external_id"], RoleSessionName="client"
    )["Credentials"]
    return boto3.client(
        "glue",
        region_name=client["region"],
        aws_access_key_id=taken["AccessKeyId"],
        aws_secret_access_key=taken["SecretAccessKey"],
        aws_session_token=taken["SessionToken"],
    )


def log_in(client: dict[str, Any]) -> dict[str, Any]:
    """Return how a Kafka client connects: as the user of the consumer, over TLS."""
    secrets = boto3.client("secretsmanager", region_name=client["region"])
    secret = json.loads(secrets.get_secret_value(SecretId=client["secret_arn"])["SecretString"])
    return {
        "bootstrap_servers": client["bootstrap_servers"].split(","),
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": secret["username"],
        "sasl_plain_password": secret["password"],
    }


if __name__ == "__main__":
    sys.exit(main())
