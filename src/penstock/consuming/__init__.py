"""The consumer: batches of Kafka records to rows, and dead letters to their table."""

from __future__ import annotations

from penstock.consuming.consumer import Consumed, Consumer, build_consumer
from penstock.consuming.mapping import answer_mapping, read_records
from penstock.consuming.settings import ConsumerSettings

__all__ = [
    "Consumed",
    "Consumer",
    "ConsumerSettings",
    "answer_mapping",
    "build_consumer",
    "read_records",
]
