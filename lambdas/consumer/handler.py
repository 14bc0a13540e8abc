"""The consumer: the records of a Kafka mapping into rows of DynamoDB."""

from __future__ import annotations

import os
from typing import Any

from penstock.consuming import ConsumerSettings, build_consumer, read_records

_consumer = build_consumer(ConsumerSettings.from_environ(os.environ), stage="lambda")


def lambda_handler(event: Any, context: Any) -> dict[str, list[Any]]:
    """Write a row for each record; an error makes the mapping bring the batch again."""
    _consumer.consume(read_records(event))
    return {"batchItemFailures": []}
