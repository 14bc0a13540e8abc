"""Events to records: what a producer does with an event, wherever it came from."""

from __future__ import annotations

from penstock.producing.producer import EventProducer, Produced, build_event_producer
from penstock.producing.settings import ProducerSettings

__all__ = ["EventProducer", "Produced", "ProducerSettings", "build_event_producer"]
