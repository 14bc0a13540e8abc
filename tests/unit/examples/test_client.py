"""The client in Python passes damaged records, and none that it only failed to ask about."""

from __future__ import annotations

import io
import json
import uuid
from types import SimpleNamespace

import boto3
import fastavro
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from examples.clients.python import client

_SCHEMA = {
    "type": "record",
    "name": "Reading",
    "fields": [{"name": "unit", "type": ["null", "string"]}, {"name": "value", "type": "int"}],
}
_KNOWN, _UNKNOWN = uuid.UUID(int=1), uuid.UUID(int=2)
_CLIENT = {"group_prefix": "analytics-"}


class _Consumer:
    """Records of partition 0 from offset 0 on."""

    def __init__(self, values):
        self.values, self.committed = values, 0

    def __iter__(self):
        for offset, value in enumerate(self.values):
            yield SimpleNamespace(partition=0, offset=offset, value=value)

    def commit(self):
        self.committed += 1

    def close(self):
        """Nothing is open."""


@pytest.fixture
def registry(monkeypatch):
    """Glue, with the answers that a test gives it."""
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
    glue = boto3.client("glue", region_name="eu-central-1", **keys)
    monkeypatch.setattr(client, "open_glue", lambda _: glue)
    monkeypatch.setattr(client, "log_in", lambda _: {})
    with Stubber(glue) as stub:
        yield stub


def _read(monkeypatch, consumer):
    monkeypatch.setattr(client, "KafkaConsumer", lambda *_, **__: consumer)
    client.read(_CLIENT, "readings", len(consumer.values))


def _frame(version, payload):
    return b"\x03\x00" + version.bytes + payload


def test_records_that_cannot_be_read_are_passed(monkeypatch, registry, capsys):
    registry.add_response("get_schema_version", {"SchemaDefinition": json.dumps(_SCHEMA)})
    registry.add_client_error("get_schema_version", "EntityNotFoundException")
    whole = io.BytesIO()
    fastavro.schemaless_writer(whole, _SCHEMA, {"unit": "C", "value": 30})
    consumer = _Consumer(
        [
            _frame(_KNOWN, b"\x08\x02"),  # a branch that the union has not
            _frame(_KNOWN, b""),
            b"no frame",
            _frame(_UNKNOWN, whole.getvalue()),
            _frame(_KNOWN, whole.getvalue()),
        ]
    )

    _read(monkeypatch, consumer)

    *damaged, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert ["unreadable" in each for each in damaged] == [True] * 4
    assert str(_UNKNOWN) in damaged[3]["unreadable"]
    assert last["value"] == {"unit": "C", "value": 30}
    assert consumer.committed == len(consumer.values)


def test_a_record_is_not_passed_while_the_registry_cannot_be_asked(monkeypatch, registry, capsys):
    registry.add_client_error("get_schema_version", "ThrottlingException")

    consumer = _Consumer([_frame(_KNOWN, b"\x00\x02")])

    with pytest.raises(ClientError, match="ThrottlingException"):
        _read(monkeypatch, consumer)

    assert capsys.readouterr().out == ""
    assert consumer.committed == 0, "its next run would pass the record"
