"""The stream of a trial: records of one schema, or of two, with ids in order."""

from __future__ import annotations

import threading
from typing import Final

from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

from proof.change import field, optional, record_of, write_payload
from proof.faults.oracle import Record
from systems.readers import read_topic
from systems.registry import Registry, frame

_PARTITIONS: Final = 4
_PAUSE_SECONDS: Final = 0.02
_FIELDS: Final = [field("number", "long"), field("text", "string")]
_VERSIONS: Final = (record_of(_FIELDS), record_of([*_FIELDS, optional("more", "long")]))


class Sender:
    """A thread that sends some 50 records a second until it is closed."""

    def __init__(self, servers: str, registry: Registry, topic: str) -> None:
        self._servers, self._topic = servers, topic
        registry.register(topic, _VERSIONS)
        self._ids = registry.ids[topic]
        admin = KafkaAdminClient(bootstrap_servers=servers)
        admin.create_topics([NewTopic(topic, _PARTITIONS, 1)])
        admin.close()
        self._producer = KafkaProducer(bootstrap_servers=servers, acks="all")
        self.sent = 0
        self._version = 0
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._send_all, daemon=True)
        self._thread.start()

    def use_version(self, version: int) -> int:
        """Send records of another version from now on; return how many were sent before."""
        self._version = version
        return self.sent

    def close(self) -> list[Record]:
        """End the stream; return what the topic has.

        Raises:
            AssertionError: records that Kafka acknowledged are missing, so there is no trial.
        """
        self._closed.set()
        self._thread.join()
        self._producer.flush()
        self._producer.close()
        consumer = KafkaConsumer(bootstrap_servers=self._servers, enable_auto_commit=False)
        found = [
            Record(each.key.decode(), each.value) for each in read_topic(consumer, self._topic)
        ]
        consumer.close()
        assert {each.id for each in found} == {f"{n:06}" for n in range(1, self.sent + 1)}
        return found

    def _send_all(self) -> None:
        while not self._closed.wait(_PAUSE_SECONDS):
            number, version = self.sent + 1, self._version
            key = f"{number:06}"
            row = {"id": key, "number": number, "text": f"text {number}", "more": number}
            if not version:
                del row["more"]
            value = frame(self._ids[version], write_payload(_VERSIONS[version], row))
            self._producer.send(self._topic, value, key.encode(), partition=number % _PARTITIONS)
            self.sent = number
