"""kafka-python's consumer, logged in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka import KafkaConsumer

from penstock.kafka._connection import PROBE_SECONDS
from penstock.kafka._failures import translated_kafka_errors
from penstock.kafka.login import client_options
from penstock.kafka.probe import check_access
from penstock.kafka.settings import KafkaSettings


def connect(settings: KafkaSettings, topics: Sequence[str], **options: Any) -> KafkaConsumer:
    """Return a consumer without a subscription that commits nothing by itself.

    Raises:
        TopicNotFoundError, TopicForbiddenError: a topic does not exist, or may not be used.
        BrokerError: no broker can be used; the subclass says why.
    """
    login = check_access(client_options(settings), topics)
    with translated_kafka_errors("the consumer cannot start"):
        return KafkaConsumer(
            **login,
            **options,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            allow_auto_create_topics=False,
            bootstrap_timeout_ms=int(PROBE_SECONDS * 1000),
        )
