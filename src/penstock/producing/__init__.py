"""The producer: events to Kafka records, and rejected events to a bucket."""

from __future__ import annotations

from penstock.producing.intake import Intake, IntakeResult, Invocation, build_intake
from penstock.producing.outcomes import Outcome, Previewed, Produced
from penstock.producing.producer import EventProducer
from penstock.producing.refusals import Refusal, make_refusal
from penstock.producing.rejected import RejectedEvent, RejectedEvents, write_events
from penstock.producing.requests import Form, Request
from penstock.producing.settings import IntakeSettings, ProducerSettings
from penstock.producing.stamper import StampedEvent, Stamper

__all__ = [
    "EventProducer",
    "Form",
    "Intake",
    "IntakeResult",
    "IntakeSettings",
    "Invocation",
    "Outcome",
    "Previewed",
    "Produced",
    "ProducerSettings",
    "Refusal",
    "RejectedEvent",
    "RejectedEvents",
    "Request",
    "StampedEvent",
    "Stamper",
    "build_intake",
    "make_refusal",
    "write_events",
]
