"""The outcomes of events: a record, what a record would be, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.kafka import Delivery
from penstock.producing.refusals import Refusal
from penstock.registry import Registration
from penstock.schemas import diff_schemas


@dataclass(frozen=True, slots=True)
class Produced:
    """A written event: the delivery of its record, and the registration of its schema.

    `warning` says that its new version uses much of the version budget, and why.
    """

    delivery: Delivery
    registration: Registration
    warning: str = ""

    def describe(self) -> dict[str, Any]:
        """Return it as plain values; a new schema version comes with its diff to the previous."""
        return {
            "topic": self.delivery.topic,
            "partition": self.delivery.partition,
            "offset": self.delivery.offset,
            "schema": _describe_schema(self.registration, self.warning),
        }


Outcome = Produced | Refusal


@dataclass(frozen=True, slots=True)
class Previewed:
    """An event that would be written, in a version that exists or would be registered for it."""

    registration: Registration
    warning: str = ""

    def describe(self) -> dict[str, Any]:
        """Return it as plain values; a new schema version comes with its diff to the previous."""
        return {"schema": _describe_schema(self.registration, self.warning)}


def _describe_schema(registration: Registration, warning: str) -> dict[str, Any]:
    version, previous = registration.version, registration.previous
    schema: dict[str, Any] = {
        "name": version.name,
        "version": version.number,
        "id": str(version.key),
        "created": registration.created,
    }
    if registration.created and previous is not None:
        schema["diff"] = str(diff_schemas(previous.schema, version.schema)).splitlines()
    if warning:
        schema["warning"] = warning
    return schema
