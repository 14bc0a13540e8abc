"""Records of a topic are shown with their keys as values, where the format of keys is known."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from penstock.framing import encode_glue_frame
from penstock.kafka import KafkaSettings, Security
from penstock.operations import ReadSettings, read_records, topics
from penstock.records import KeyFormat
from penstock.registry import Registries
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import encode

_KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "long"}]}


def test_keys_are_decoded_in_their_format(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = MemoryRegistry()
    version = registry.register("orders-key", _KEY).version
    key = encode_glue_frame(version.key, encode({"id": 7}, _KEY))
    found = [
        SimpleNamespace(
            topic="orders",
            partition=0,
            offset=offset,
            key=each,
            value=None,
            headers=[],
            timestamp=1,
        )
        for offset, each in enumerate([key, b"?"])
    ]
    monkeypatch.setattr(topics, "read_topic", lambda *_, **__: iter(found))
    monkeypatch.setattr(topics, "load_registries", lambda *_: Registries([registry]))
    kafka = KafkaSettings(("b:9092",), Security.PLAINTEXT)

    good, bad = read_records(ReadSettings(kafka, "memory://", key_format=KeyFormat.AVRO), "orders")

    assert (good.key, good.failure) == ({"id": 7}, None)
    assert (bad.key, bad.failure and bad.failure.reason) == (None, "unroutable")
