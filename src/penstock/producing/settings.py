"""What a producer has to be told."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.kafka import KafkaSettings
from penstock.schemas import Policy
from penstock.settings import Settings, nested, setting


def _parse_budget(text: str) -> int:
    budget = int(text)
    if budget < 1:
        raise ValueError(text)
    return budget


@dataclass(frozen=True, slots=True)
class ProducerSettings(Settings):
    """Which device speaks, where its records go, and which schemas they may have."""

    kafka: KafkaSettings = nested(KafkaSettings)
    registry: str = setting(
        "PENSTOCK_REGISTRY",
        "URL of the schema registry, such as glue://NAME",
        secret=True,  # it may hold an external id
    )
    rejected_bucket: str = setting(
        "PENSTOCK_REJECTED_BUCKET", "bucket that keeps events that are not written"
    )
    topic: str = setting("PENSTOCK_TOPIC", "topic that the records go to", default="sensor")
    schema_name: str = setting(
        "PENSTOCK_SCHEMA_NAME", "name of the events' schema", default="sensor"
    )
    policy: Policy = setting(
        "PENSTOCK_POLICY",
        "what a new version holds: exact (the event's fields) or grow (every field ever seen)",
        parse=Policy,
        default=Policy.EXACT,
    )
    version_budget: int = setting(
        "PENSTOCK_VERSION_BUDGET",
        "how many versions the schema may have, 1 or more",
        parse=_parse_budget,
        default=100,
    )
    device_id: str = setting(
        "DEVICE_ID", "the device that speaks where an event names none", default="000001"
    )
