"""Write sales to a topic: all at once, or one after another at a rate."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from jobs.sales.records import make_sale
from jobs.sales.settings import ProduceSettings
from penstock.errors import BrokerError
from penstock.kafka import KafkaSettings, Message, Topic, ensure_topic, open_producer

_CHUNK: Final = 500
# The timestamp of a record is when the sale was made, not when a broker took it. Brokers delete
# records by this timestamp, and `--since` may be long ago.
_TOPIC_PROPERTIES: Final = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}


def ensure_sales_topic(kafka: KafkaSettings, name: str) -> None:
    """Create a topic unless it exists; its records keep the timestamps of their producer.

    Raises:
        BrokerError: the topic does not exist and cannot be created.
    """
    ensure_topic(kafka, Topic(name, properties=_TOPIC_PROPERTIES))


def seed_topic(settings: ProduceSettings, rows: Sequence[Any]) -> None:
    """Write all rows at once, in their order.

    A payment date is in seconds since 1970, one second after that of the payment id before it, and
    the last one is now.
    """
    last = settings.since or datetime.now(UTC)
    ranks = {number: rank for rank, number in enumerate(sorted(row.payment_id for row in rows), 1)}
    first = int(last.timestamp()) - len(rows)
    messages = [
        build_message(settings.topic, row, last, first + ranks[row.payment_id]) for row in rows
    ]
    ensure_sales_topic(settings.kafka, settings.topic)
    send_messages(settings.kafka, messages)


def produce_sales(
    settings: ProduceSettings,
    rows: Sequence[Any],
    build: Callable[[Any, datetime], Message],
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Write one row after another at the rate; `build` makes the message of a row and its time."""
    ensure_sales_topic(settings.kafka, settings.topic)
    gap = timedelta(seconds=1 / settings.rate)
    if since := settings.since:
        moments = [since + at * gap for at in range(len(rows))]
        send_messages(
            settings.kafka,
            [build(row, moment) for row, moment in zip(rows, moments, strict=True)],
        )
        return
    with closing(open_producer(settings.kafka)) as producer:
        for row in rows:
            _raise_first(producer.send_all([build(row, datetime.now(UTC))]))
            pause(gap.total_seconds())


def send_messages(kafka: KafkaSettings, messages: Sequence[Message]) -> None:
    """Send messages in their order.

    Raises:
        BrokerError: a message was not acknowledged; those before it are written.
    """
    with closing(open_producer(kafka)) as producer:
        for start in range(0, len(messages), _CHUNK):
            _raise_first(producer.send_all(messages[start : start + _CHUNK]))


def build_message(topic: str, row: Any, moment: datetime, paid: int | None = None) -> Message:
    """Return the message of a row with a timestamp, which is also its payment date."""
    sale = make_sale(row, moment.isoformat() if paid is None else paid)
    return Message(
        topic,
        json.dumps(sale).encode(),
        str(row.payment_id).encode(),
        timestamp_ms=round(moment.timestamp() * 1000),
    )


def _raise_first(outcomes: Sequence[object]) -> None:
    for outcome in outcomes:
        if isinstance(outcome, BrokerError):
            raise outcome
