"""A record as it was sent, which the oracle looks for."""

from __future__ import annotations

from dataclasses import dataclass

from proof.change import Kind


@dataclass(frozen=True, slots=True)
class Sent:
    """A record that Kafka acknowledged: its change, its id and its bytes."""

    change: str
    id: str
    kind: Kind
    value: bytes | None
