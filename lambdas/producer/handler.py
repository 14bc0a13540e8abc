"""The producer: an IoT sensor whose event's fields may change at any time."""

from __future__ import annotations

import os
from typing import Any

from penstock.producing import ProducerSettings, build_event_producer

_DEADLINE_SECONDS = 10.0  # for one record to be acknowledged

_producer = build_event_producer(ProducerSettings.from_environ(os.environ), _DEADLINE_SECONDS)


def lambda_handler(event: Any, context: Any) -> dict[str, Any]:
    """Write the event to Kafka and say where it is and under which schema."""
    return _producer.produce(event).describe()
