"""The events of one call to a producer, and what became of each so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from penstock.errors import (
    IncompatibleSchemaError,
    PenstockError,
    RegistryAccessDeniedError,
    RegistryUnavailableError,
)
from penstock.kafka import Message
from penstock.producing.outcomes import Outcome
from penstock.producing.stamper import StampedEvent
from penstock.registry import Registration

_Answer = TypeVar("_Answer")


class AskedTooSoonError(Exception):
    """An event needs a new list of versions, and events of versions that are known come first."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A record that is ready to be sent, with its schema registered."""

    index: int
    message: Message
    registration: Registration
    warning: str


@dataclass(slots=True)
class Batch:
    """The events of one call, the outcome of each so far, and the records that are ready."""

    events: Sequence[StampedEvent]
    deadline: float
    outcomes: list[Outcome]
    prepared: list[Prepared] = field(default_factory=list)
    may_ask: bool = False
    is_list_fresh: bool = False  # the versions were listed after the events came
    incompatible: dict[str, IncompatibleSchemaError] = field(default_factory=dict)  # by schema
    outage: PenstockError | None = None  # why the registry gave no list of versions

    def ask(self, call: Callable[[], _Answer]) -> _Answer:
        """Ask the registry for its list of versions.

        After a call that it did not answer, the other events of the batch get the same error
        without a call.
        """
        if self.outage is not None:
            raise self.outage.with_traceback(None)
        try:
            return call()
        except (RegistryUnavailableError, RegistryAccessDeniedError) as error:
            self.outage = error
            raise
