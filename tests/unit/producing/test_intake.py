"""Every event of an invocation is written, or kept, or its sender is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.errors import (
    BrokerUnavailableError,
    RejectedEventError,
    SinkUnavailableError,
    UndeliveredEventError,
)
from penstock.producing import (
    EventProducer,
    Intake,
    IntakeResult,
    IntakeSettings,
    Invocation,
    ProducerSettings,
    RejectedEvent,
    Stamper,
    build_intake,
)
from penstock.producing import intake as intake_module
from penstock.producing import producer as producer_module
from penstock.producing._deadline import run_within
from penstock.producing.requests import MAX_EVENTS
from penstock.records import READING
from penstock.registry import CachedRegistry
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import KAFKA

_DOWN = BrokerUnavailableError("b-1:9098 does not answer in time")


@dataclass
class FakeBucket:
    """Keeps events in memory, all but those that it is told not to, or hangs."""

    events: list[RejectedEvent] = field(default_factory=list)
    full_from: int | None = None
    hanging: threading.Event | None = None

    def keep(self, events: Sequence[RejectedEvent], kept: dict[int, str]) -> None:
        """Keep events."""
        if self.hanging:
            self.hanging.wait(30)
        for each in events:
            if self.full_from is not None and each.index >= self.full_from:
                raise SinkUnavailableError("the bucket is down")
            self.events.append(each)
            kept[each.index] = each.key


@pytest.fixture
def bucket() -> FakeBucket:
    return FakeBucket()


Take = Callable[..., IntakeResult]


@pytest.fixture
def take(producer: EventProducer, bucket: FakeBucket) -> Take:
    """Take what a function is invoked with."""
    intake = Intake(producer, bucket, Stamper(READING, "000001"))  # type: ignore[arg-type]

    def take(given: Any, seconds: float = 20) -> IntakeResult:
        deadline = time.monotonic() + seconds
        invocation = Invocation("producer", "r-1", lambda: deadline - time.monotonic())
        return intake.accept(given, invocation)

    return take


def _api(body: Any) -> dict[str, Any]:
    return {"requestContext": {}, "body": json.dumps(body)}


def _read(taken: IntakeResult) -> tuple[int, Any]:
    answer = taken.answer()
    assert answer["headers"] == {"content-type": "application/json"}
    assert answer["isBase64Encoded"] is False
    return answer["statusCode"], json.loads(answer["body"])


def test_the_answer_to_an_event_is_its_place_in_kafka(take: Take, bucket: FakeBucket) -> None:
    taken = take({"temperature": 30})

    answer = taken.answer()
    assert (answer["topic"], answer["offset"], answer["schema"]["version"]) == ("sensor", 0, 1)
    assert bucket.events == []
    assert taken.seconds > 0
    assert taken.counts() == {
        "WrittenEvents": 1,
        "RejectedEvents": 0,
        "UndeliveredEvents": 0,
        "NewSchemaVersions": 1,
        "SchemaVersions": 1,
    }


def test_a_rejected_event_is_kept_and_raises_an_error(
    take: Take, bucket: FakeBucket, topic: FakeTopic
) -> None:
    take({"temperature": 30})
    taken = take({"temperature": "warm"})

    with pytest.raises(RejectedEventError) as caught:
        taken.answer()

    (kept,) = bucket.events
    assert str(caught.value) == (
        "SchemaConflictError: temperature: found the string 'warm', expected long as in the "
        "versions before; rule: a field keeps its type, only numbers widen; diff: ~ temperature: "
        f"long (optional) -> string (optional); the event is kept as {kept.key}"
    )
    assert (kept.event, kept.base["deviceId"]) == ({"temperature": "warm"}, "000001")
    assert (kept.reason, kept.rule) == ("SchemaConflictError", caught.value.rule)
    assert kept.diff == caught.value.diff
    assert kept.detail.startswith("temperature: found the string 'warm'")
    assert (kept.function, kept.request_id, kept.index) == ("producer", "r-1", 0)
    assert (taken.counts()["RejectedEvents"], len(topic.records)) == (1, 1)
    assert take({"temperature": 31}).answer()["offset"] == 1


def test_an_item_of_an_http_list_that_is_no_json_event_stops_no_other(
    take: Take, bucket: FakeBucket, registry: CachedRegistry, topic: FakeTopic
) -> None:
    body = '[{"t": 1}, {"t": 1, "t": 2}, {"t": 2}, {"t": NaN}]'

    status, answer = _read(take({"requestContext": {}, "body": body}))

    assert status == 207
    assert ["error" in each for each in answer] == [False, True, False, True]
    assert [each["t"] for each in topic.events(registry)] == [1, 2]
    assert [(each.index, each.event) for each in bucket.events] == [
        (1, '{"t": 1, "t": 2}'),
        (3, '{"t": NaN}'),
    ]


def test_a_request_with_too_many_events_is_kept_whole_and_its_sender_is_told(
    take: Take, bucket: FakeBucket, topic: FakeTopic
) -> None:
    given = _api([{}] * (MAX_EVENTS + 1))

    status, answer = _read(take(given))

    assert status == 413
    assert answer["error"]["reason"] == "EventLimitError"
    assert [(each.event, each.is_request) for each in bucket.events] == [(given["body"], True)]
    assert topic.records == []


def test_a_batch_is_answered_item_by_item(
    take: Take, bucket: FakeBucket, registry: CachedRegistry, topic: FakeTopic
) -> None:
    taken = take([{"t": 1}, {"t": "warm"}, 7, {"t": 2}])

    answer = taken.answer()
    assert [each.get("offset") for each in answer] == [0, None, None, 1]
    assert [each["error"]["reason"] for each in answer if "error" in each] == [
        "SchemaConflictError",
        "EventTextError",
    ]
    assert [each["error"]["kept"] for each in answer if "error" in each] == [
        each.key for each in bucket.events
    ]
    assert [(each.index, each.event, each.is_request) for each in bucket.events] == [
        (1, {"t": "warm"}, False),
        (2, 7, False),
    ]
    assert [each["t"] for each in topic.events(registry)] == [1, 2]
    counts = taken.counts()
    assert (counts["WrittenEvents"], counts["RejectedEvents"]) == (2, 2)


def test_the_answer_to_an_empty_batch_is_an_empty_list(take: Take) -> None:
    assert take([]).answer() == []


def test_the_answer_to_an_api_is_an_http_response(take: Take) -> None:
    status, body = _read(take(_api({"t": 1})))
    assert (status, body["offset"]) == (200, 0)

    status, body = _read(take(_api([{"t": 2}, {"t": 3}])))
    assert (status, [each["offset"] for each in body]) == (200, [1, 2])

    status, body = _read(take(_api([{"t": 4}, {"t": "warm"}])))
    assert (status, body[1]["error"]["reason"]) == (207, "SchemaConflictError")

    status, body = _read(take(_api({"t": "warm"})))
    assert (status, body["error"]["type"]) == (422, "RejectedEventError")


def test_a_payload_that_is_not_an_event_is_rejected_and_kept(
    take: Take, bucket: FakeBucket
) -> None:
    with pytest.raises(RejectedEventError, match="found text that is not JSON: "):
        take("warm").answer()
    status, body = _read(take({"requestContext": {}, "body": "{"}))

    assert (status, body["error"]["reason"]) == (422, "EventTextError")
    assert [each.event for each in bucket.events] == ["warm", "{"]


def test_without_kafka_an_event_is_kept_and_not_acknowledged(
    take: Take, bucket: FakeBucket, topic: FakeTopic
) -> None:
    topic.failure = _DOWN
    taken = take({"t": 1})
    with pytest.raises(UndeliveredEventError, match="does not answer in time; the event is kept"):
        taken.answer()
    batch = take([{"t": 1}, {"t": 2}])
    status, _ = _read(take(_api({"t": 1})))

    assert [each["error"]["reason"] for each in batch.answer()] == ["BrokerUnavailableError"] * 2
    assert status == 503
    assert [each.event for each in bucket.events] == [{"t": 1}, {"t": 1}, {"t": 2}, {"t": 1}]
    assert {each.rule for each in bucket.events} == {""}
    assert batch.counts()["UndeliveredEvents"] == 2
    topic.failure = None
    assert take({"t": 1}).answer()["offset"] == 0


def test_the_answer_is_in_time_though_kafka_and_the_bucket_hang(
    take: Take,
    bucket: FakeBucket,
    topic: FakeTopic,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topic.hanging, bucket.hanging = threading.Event(), threading.Event()
    waited = []

    def run_and_note(limit: float, call: Callable[[], None]) -> bool:
        if not (in_time := run_within(limit, call)):
            waited.append(limit)
        return in_time

    for module in (producer_module, intake_module):
        monkeypatch.setattr(module, "run_within", run_and_note)

    with pytest.raises(UndeliveredEventError, match="not kept: the bucket took longer than"):
        take({"t": 1}, seconds=0.5).answer()

    assert len(waited) == 2
    assert sum(waited) < 0.5
    topic.hanging.set()
    bucket.hanging.set()


def test_an_event_that_is_neither_written_nor_kept_is_an_error(
    take: Take, bucket: FakeBucket, topic: FakeTopic
) -> None:
    take({"t": 1})
    bucket.full_from = 1

    with pytest.raises(RejectedEventError, match="the event is not kept: the bucket is down"):
        bucket.full_from = 0
        take({"t": "warm"}).answer()
    bucket.full_from = 2
    with pytest.raises(UndeliveredEventError) as caught:
        take([{"t": 1}, {"t": "warm"}, {"t": "hot"}]).answer()
    status, body = _read(take(_api([{"t": "warm"}, {"t": "warm"}, {"t": "hot"}])))

    assert str(caught.value).startswith(
        "1 of 3 events are neither written nor kept, the first is number 2: SchemaConflictError: t:"
    )
    assert (status, [each["error"]["kept"] is None for each in body]) == (
        500,
        [False, False, True],
    )


def test_an_unexpected_error_is_raised(take: Take, bucket: FakeBucket, topic: FakeTopic) -> None:
    topic.failure = TypeError("a bug")  # type: ignore[assignment]

    with pytest.raises(TypeError, match="a bug"):
        take({})


def test_an_intake_is_built_without_a_call() -> None:
    intake = build_intake(IntakeSettings(ProducerSettings(KAFKA, "memory://"), "rejected"))

    assert isinstance(intake, Intake)
