"""The topics of the changes, and the records that are sent."""

from __future__ import annotations

from typing import Final

from kafka import KafkaProducer

from proof.change import UNKNOWN_ID, Change, Damage, Kind, Record, Round
from proof.sent import Sent
from systems.brokers import MAX_BYTES, make_topics
from systems.registry import Registry, frame

_CUT_BYTES: Final = 3
_GARBAGE: Final = b'{"not": "a frame"}'


class Topics:
    """The topics of a run, one of one partition for each change."""

    def __init__(self, servers: str, registry: Registry, changes: tuple[Change, ...]) -> None:
        self._registry = registry
        self._producer = KafkaProducer(
            bootstrap_servers=servers, acks="all", max_request_size=MAX_BYTES
        )
        make_topics(servers, [each.name for each in changes])

    def send(self, change: Change, round_: Round) -> list[Sent]:
        """Send the records of a round; return what Kafka acknowledged."""
        sent = [self._frame(change, record) for record in round_.records]
        answers = [
            self._producer.send(change.name, value=each.value, key=each.id.encode())
            for each in sent
        ]
        for answer in answers:
            answer.get(timeout=60)
        return sent

    def close(self) -> None:
        """End the producer."""
        self._producer.close()

    def _frame(self, change: Change, record: Record) -> Sent:
        payload, ids = change.payload(record), self._registry.ids[change.name]
        value: bytes | None = frame(ids[record.version], payload)
        match record.damage:
            case Damage.CUT:
                value = frame(ids[record.version], payload[:-_CUT_BYTES])
            case Damage.GARBAGE:
                value = _GARBAGE
            case Damage.UNKNOWN_SCHEMA:
                value = frame(UNKNOWN_ID, payload)
            case None if record.kind is Kind.EMPTY:
                value = None
        return Sent(change.name, record.row["id"], record.kind, value)
