"""The reasons why events were not written, for senders, the bucket and the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.errors import (
    BrokerError,
    EventError,
    EventMismatchError,
    IncompatibleSchemaError,
    NotWrittenError,
    PayloadError,
    PenstockError,
    RecordTooLargeError,
    RejectedEventError,
    SchemaConflictError,
    SchemaError,
    UndeliveredEventError,
    VersionBudgetError,
)

# The rules that every event must follow, by the error of an event that breaks the rule. The first
# class that matches an error decides.
_RULES: tuple[tuple[type[PenstockError], str], ...] = (
    (SchemaConflictError, "a field keeps its type, only numbers widen"),
    (VersionBudgetError, "a schema has no more versions than its budget"),
    (SchemaError, "every reader can use the schema"),
    (EventMismatchError, "an event fits the registered schema"),
    (EventError, "an event is one JSON object whose values a record can hold"),
    (PayloadError, "an event is one JSON object whose values a record can hold"),
    (RecordTooLargeError, "a record is no larger than its topic accepts"),
)

_MAX_CHARACTERS = 1_000  # of a message, which may quote a registry or Kafka
_MAX_CHANGES = 50  # of a diff


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why an event was not written: an error, and the rule that the event breaks."""

    error: PenstockError
    rule: str = ""
    diff: tuple[str, ...] = ()

    @property
    def is_final(self) -> bool:
        """Return whether the event can never be written as it is."""
        return self.rule != ""

    @property
    def reason(self) -> str:
        """The name of the error's class."""
        return type(self.error).__name__

    @property
    def message(self) -> str:
        """The error's message, shortened if it is long."""
        text = str(self.error)
        return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}..."

    def describe(self, kept: str | None) -> dict[str, Any]:
        """Return the refusal as plain values; `kept` is the event's key in the bucket, if any."""
        kind = RejectedEventError if self.is_final else UndeliveredEventError
        return {
            "error": {
                "type": kind.__name__,
                "reason": self.reason,
                "message": self.message,
                "rule": self.rule,
                "diff": list(self.diff),
                "kept": kept,
            }
        }

    def as_error(self, kept: str | None, not_kept_reason: str = "") -> NotWrittenError:
        """Return the error for the sender of a single event.

        Args:
            kept: the event's key in the bucket, if the event is there.
            not_kept_reason: why the event is not in the bucket.
        """
        parts = [f"{self.reason}: {self.message}"]
        parts += [f"rule: {self.rule}"] if self.rule else []
        parts += [f"diff: {', '.join(self.diff)}"] if self.diff else []
        parts += [
            f"the event is kept as {kept}" if kept else f"the event is not kept: {not_kept_reason}"
        ]
        message = "; ".join(parts)
        if self.is_final:
            return RejectedEventError(message, rule=self.rule, diff=self.diff)
        return UndeliveredEventError(message)


def make_refusal(error: PenstockError, diff: tuple[str, ...] = ()) -> Refusal:
    """Return the refusal for an error, with the rule that the event breaks, if any."""
    if isinstance(error, IncompatibleSchemaError):
        lines = error.diff.splitlines()
        return Refusal(error, error.rule or "the registry's own", _shorten(tuple(lines)))
    if isinstance(error, BrokerError) and not isinstance(error, RecordTooLargeError):
        return Refusal(error)
    rule = next((rule for kind, rule in _RULES if isinstance(error, kind)), "")
    return Refusal(error, rule, _shorten(diff))


def _shorten(diff: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first changes of a diff, and a line with the number of the others."""
    more = len(diff) - _MAX_CHANGES
    return diff if more <= 0 else (*diff[:_MAX_CHANGES], f"{more:,} more")
