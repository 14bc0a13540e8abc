"""What the tests of registries hold in their hands: time, and a registry's two sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.registry import SchemaRegistry, SchemaStore


@dataclass
class FakeTime:
    """A clock that only sleeping moves."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.pauses.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        """Tell the time."""
        return self.now


@dataclass
class World:
    """A store, the ARN its schemas have, and a way to build one more client of it."""

    store: SchemaStore
    arn: Callable[[str], str]
    build: Callable[..., SchemaRegistry]
