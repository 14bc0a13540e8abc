"""One invocation: every event is written to Kafka or kept in the bucket, or its sender is told."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from penstock.errors import EventLimitError, NotWrittenError, SinkError, UndeliveredEventError
from penstock.producing._deadline import run_within
from penstock.producing.outcomes import Outcome, Produced
from penstock.producing.producer import EventProducer, build_event_producer
from penstock.producing.refusals import Refusal, make_refusal
from penstock.producing.rejected import RejectedEvent, RejectedEvents
from penstock.producing.requests import Form, Request, read_request
from penstock.producing.settings import IntakeSettings
from penstock.producing.stamper import StampedEvent, Stamper

# The part of the time that is reserved for keeping rejected events and for the answer.
_KEEPING_SECONDS = 5.0
_KEEPING_SHARE = 0.25
_ANSWERING_SHARE = 0.1
# The sender's time limit, however long the function may run.
_MOST_SECONDS = 25.0

_STATUS = {
    "written": 200,
    "some": 207,
    "large": 413,
    "rejected": 422,
    "undelivered": 503,
    "lost": 500,
}


@dataclass(frozen=True, slots=True)
class Invocation:
    """A Lambda invocation without its events."""

    function: str
    request_id: str
    seconds_left: Callable[[], float]


@dataclass(frozen=True, slots=True)
class IntakeResult:
    """The outcomes of the events of one invocation, in their order.

    `kept` has the keys of rejected events in the bucket, by number; `not_kept_reason` says why some
    rejected events have none.
    """

    request: Request
    outcomes: tuple[Outcome, ...]
    kept: Mapping[int, str]
    not_kept_reason: str
    schema_versions: int
    seconds: float

    @property
    def refusals(self) -> dict[int, Refusal]:
        """The refusals of the events that were not written, by number in the batch."""
        return {i: each for i, each in enumerate(self.outcomes) if isinstance(each, Refusal)}

    def counts(self) -> dict[str, int]:
        """Return the counts by metric name."""
        refusals = list(self.refusals.values())
        rejected = sum(each.is_final for each in refusals)
        written = [each for each in self.outcomes if isinstance(each, Produced)]
        return {
            "WrittenEvents": len(written),
            "RejectedEvents": rejected,
            "UndeliveredEvents": len(refusals) - rejected,
            "NewSchemaVersions": sum(each.registration.created for each in written),
            "SchemaVersions": self.schema_versions,
        }

    def answer(self) -> Any:
        """Return the answer in the form of the request: an event, a list or an HTTP response.

        Raises:
            RejectedEventError, UndeliveredEventError: a single event is not written, or events
                of a batch are neither written nor kept. An HTTP request gets a status instead.
        """
        items = [
            each.describe(self.kept.get(i)) if isinstance(each, Refusal) else each.describe()
            for i, each in enumerate(self.outcomes)
        ]
        content = items if self.request.form is Form.BATCH else items[0]
        if self.request.is_api:
            return {
                "statusCode": self._status(),
                "headers": {"content-type": "application/json"},
                "body": json.dumps(content),
                "isBase64Encoded": False,
            }
        if self.request.form is Form.EVENT and self.refusals:
            raise self._error(0)
        lost = self.refusals.keys() - self.kept.keys()
        if lost:
            raise UndeliveredEventError(
                f"{len(lost)} of {len(self.outcomes)} events are neither written nor kept, "
                f"the first is number {min(lost)}: {self._error(min(lost))}"
            )
        return content

    def _error(self, index: int) -> NotWrittenError:
        return self.refusals[index].as_error(self.kept.get(index), self.not_kept_reason)

    def _status(self) -> int:
        refusals = self.refusals
        if refusals.keys() - self.kept.keys():
            return _STATUS["lost"]
        if not refusals:
            return _STATUS["written"]
        if self.request.form is Form.BATCH:
            return _STATUS["some"]
        if isinstance(self.request.problems.get(0), EventLimitError):
            return _STATUS["large"]
        return _STATUS["rejected" if refusals[0].is_final else "undelivered"]


@dataclass(slots=True)
class Intake:
    """Writes the events of invocations; built once for each Lambda environment."""

    producer: EventProducer
    rejected: RejectedEvents
    stamper: Stamper
    clock: Callable[[], float] = field(default=time.monotonic)

    def accept(self, given: Any, invocation: Invocation) -> IntakeResult:
        """Write the events to Kafka, keep those that are not written, and return all outcomes."""
        began = self.clock()
        left = invocation.seconds_left()
        keeping = min(_KEEPING_SECONDS, left * _KEEPING_SHARE)
        request = read_request(given)
        events = [
            self.stamper.stamp(event, is_parsed=request.is_text and isinstance(event, dict))
            for event in request.events
        ]
        readable = [each for i, each in enumerate(events) if i not in request.problems]
        written = iter(self.producer.produce(readable, min(left - keeping, _MOST_SECONDS)))
        outcomes = [
            make_refusal(request.problems[i]) if i in request.problems else next(written)
            for i in range(len(events))
        ]
        seconds = keeping * (1 - _ANSWERING_SHARE)
        kept, not_kept_reason = self._keep(events, outcomes, invocation, seconds, request.is_whole)
        count = self.producer.version_count
        return IntakeResult(
            request, tuple(outcomes), kept, not_kept_reason, count, self.clock() - began
        )

    def _keep(
        self,
        events: list[StampedEvent],
        outcomes: list[Outcome],
        invocation: Invocation,
        seconds: float,
        is_request: bool,
    ) -> tuple[dict[int, str], str]:
        """Put the refused events into the bucket; return their keys, and why some are missing."""
        refused = [
            RejectedEvent(
                event=stamped.event,
                base=stamped.base,
                timestamp=stamped.timestamp,
                reason=outcome.reason,
                detail=outcome.message,
                rule=outcome.rule,
                diff=outcome.diff,
                function=invocation.function,
                request_id=invocation.request_id,
                index=index,
                is_request=is_request,
            )
            for index, (stamped, outcome) in enumerate(zip(events, outcomes, strict=True))
            if isinstance(outcome, Refusal)
        ]
        kept: dict[int, str] = {}
        if not refused:
            return kept, ""
        try:
            in_time = run_within(seconds, partial(self.rejected.keep, refused, kept))
        except SinkError as error:
            return dict(kept), str(error)
        return dict(kept), "" if in_time else f"the bucket took longer than {seconds:.1f} s"


def build_intake(settings: IntakeSettings) -> Intake:
    """Build an intake; it makes no network call."""
    return Intake(
        build_event_producer(settings.producer, create_topic=True),
        RejectedEvents(settings.rejected_bucket),
        Stamper(settings.producer.shape, settings.producer.device_id),
    )
