"""After the faults, a run demands that its senders still send, and are answered."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from campaign import run as module
from campaign.history import History
from campaign.oracle import Kind, find_problems
from campaign.run import Run
from campaign.senders import Stranger
from campaign.workers import Worker

_RATE = 1_000.0


class _Producer:
    """A producer function; `answers` tells whether it answers a call."""

    def __init__(self) -> None:
        self.answers: Callable[[int], bool] = lambda _: True
        self._calls, self._offsets = count(), count()

    def invoke(self, FunctionName: str, Payload: str) -> dict[str, Any]:
        if not self.answers(next(self._calls)):
            return {"Payload": BytesIO(b'"it hung"'), "FunctionError": "Unhandled"}
        answer = [
            {"topic": "sensor", "partition": 0, "offset": next(self._offsets)}
            for _ in json.loads(Payload)
        ]
        return {"Payload": BytesIO(json.dumps(answer).encode())}


class _Bucket:
    """A bucket with one object."""

    content = b"{}"

    def get_paginator(self, _: str) -> Any:
        return SimpleNamespace(paginate=lambda Bucket: [{"Contents": [{"Key": "k"}]}])

    def get_object(self, **_: str) -> Any:
        return {"Body": BytesIO(self.content)}


class _Changer(Worker):
    """Who writes what no sender does, until an error ends it."""

    error_of_work: Exception | None = None

    def work(self) -> None:
        if self.error_of_work:
            raise self.error_of_work
        self._stopped.wait()


@pytest.fixture
def platform() -> Any:
    job, bucket = SimpleNamespace(ends=[], peak_mb=0), _Bucket()
    cluster = SimpleNamespace(bootstrap_servers=lambda _: "localhost:1")
    return SimpleNamespace(
        calls=_Producer(),
        producer="producer",
        bucket="rejected",
        client=lambda _: bucket,
        world=SimpleNamespace(kafka=SimpleNamespace(cluster=cluster)),
        replays=None,
        job=job,
        others={"cdc": SimpleNamespace(sender=_Changer("changer"), job=job)},
        offsets=SimpleNamespace(read=lambda: {"topic": 0, "function": 0, "job": 0}),
        read_made=lambda with_lake: {},
        read_others=dict,
    )


@pytest.fixture
def run(platform: Any, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(module, "read_records", lambda *_: [])
    monkeypatch.setattr(Stranger, "work", lambda self: self._stopped.wait())
    monkeypatch.setattr(Run, "_versions", lambda _: {})
    monkeypatch.setattr(Run, "_find_late", lambda _: [])  # the topic is empty
    run = Run(platform, 1)
    for each in run._senders:
        each.pace.rate = _RATE
    return run


def _end(run: Run) -> History:
    run.begin()
    run.end()
    return run.read(is_last=True)


def _tell(history: History) -> list[tuple[Kind, str]]:
    """Return what the oracle says of the senders alone."""
    problems = find_problems(History((), {}, (), {}, {}, {}, calm=history.calm, dead=history.dead))
    return [(each.kind, each.what.partition(":")[0]) for each in problems]


def test_senders_that_are_answered_go_on_until_they_are_stopped(run: Run) -> None:
    history = _end(run)

    assert _tell(history) == []
    assert [*history.calm] == ["s0", "s1", "s2"]
    assert not any(each.is_alive() for each in run._workers)


@pytest.mark.parametrize("failing", [1, 3], ids=["all", "some"])
def test_a_producer_that_answers_no_more_is_told(
    run: Run, platform: Any, failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ANSWER_SECONDS", 0.5)
    run.begin()
    platform.calls.answers = lambda number: number % failing != 0
    run.end()

    problems = _tell(run.read(is_last=True))

    assert {kind for kind, _ in problems} == {Kind.LOST}
    assert {told.partition(" ")[2] for _, told in problems} == {"is answered no more"}


def test_a_producer_may_answer_after_some_time(run: Run, platform: Any) -> None:
    platform.calls.answers = lambda number: number < 3 or number > 200

    assert _tell(_end(run)) == []


def test_a_thread_that_ended_is_told(run: Run, platform: Any) -> None:
    platform.others["cdc"].sender.error_of_work = ValueError("no change")
    run._senders[1].pace.rate = 0.0

    history = _end(run)

    assert history.dead == {
        "changer": "ValueError: no change",
        "s1": "ZeroDivisionError: float division by zero",
    }
    assert (Kind.ERROR, "changer ended by itself") in _tell(history)
    assert (Kind.LOST, "s1 is answered no more") in _tell(history)


def test_a_stranger_that_cannot_begin_says_why() -> None:
    def find_versions() -> dict[str, str]:
        raise KeyError("no registry")

    stranger = Stranger(Random(1), "localhost:1", "sensor", find_versions, None)
    stranger.start()
    stranger.join()

    assert stranger.error == "KeyError: 'no registry'"


def test_the_last_reading_reads_all_kept_events_again(run: Run, platform: Any) -> None:
    assert run.read().kept == {"k": {}}

    platform.client("s3").content = b'{"event": '

    assert run.read().kept == {"k": {}}
    assert run.read(is_last=True).kept == {"k": None}
