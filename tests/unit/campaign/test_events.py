"""Events, the fates that senders are told, and records that mean harm."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO
from random import Random
from typing import Any
from uuid import UUID

import pytest
from fastavro import schemaless_reader

from campaign.events import Events, make_harm, make_mended
from campaign.history import Fate, Sent
from campaign.replay import _DEFINITION
from campaign.senders import Pace, _read_fates

_KEY = "00000000-0000-0000-0000-000000000001"
_FIELDS = [
    {"name": "deviceId", "type": "string"},
    {"name": "f0", "type": ["null", "long"], "default": None},
    {"name": "sender", "type": ["null", "string"], "default": None},
]
_VERSIONS = {_KEY: json.dumps({"type": "record", "name": "sensor", "fields": _FIELDS})}
_EVENT = {"deviceId": "d", "sender": "s0", "number": 1}


def _make(seed: int, level: int, count: int = 50) -> list[tuple[dict[str, Any], bool]]:
    events = Events("s0", Random(seed))
    made = [events.make(level) for _ in range(count)]
    for event, _ in made:
        del event["timestamp"]
    return made


def test_a_seed_makes_the_same_events() -> None:
    assert _make(1, 9) == _make(1, 9)
    assert _make(1, 9) != _make(2, 9)


def test_events_have_the_fields_of_their_level_and_few_contradict() -> None:
    made = _make(1, 9)
    names = {name for event, _ in made for name in event}

    assert names == {"deviceId", "sender", "number", *(f"f{number}" for number in range(9))}
    assert [event["number"] for event, _ in made] == list(range(1, 51))
    assert 0 < sum(not fits for _, fits in made) < 10
    assert all(fits is isinstance(event["f0"], int) for event, fits in made)


def test_the_first_events_contradict_nothing() -> None:
    assert all(fits for _, fits in _make(1, 1, 500))


def test_a_whole_number_becomes_a_fraction() -> None:
    assert {type(event.get("f1", 1)) for event, _ in _make(1, 7)} == {int}
    assert {type(event.get("f1", 1.0)) for event, _ in _make(1, 8)} == {float}


def test_records_mean_harm_in_each_way() -> None:
    rng = Random(1)
    made = [make_harm(rng, number, _VERSIONS) for number in range(50)]

    assert {reason for _, reason in made} == {
        "unknown-framing", "truncated", "trailing-bytes", "unknown-schema",
    }  # fmt: skip


def test_a_record_that_a_replay_mends_is_of_a_senders_key_and_of_the_other_schema() -> None:
    key, definition = _KEY, _DEFINITION
    value, row = make_mended(Random(1), 7, key, definition)

    assert value[:18] == b"\3\0" + UUID(key).bytes
    assert schemaless_reader(BytesIO(value[18:]), json.loads(definition), None) == row
    assert (row["deviceId"][:3], row["sender"], row["number"]) == ("s0-", "yard", 7)


@pytest.mark.parametrize(
    ("answer", "error", "sent"),
    [
        (
            [{"topic": "sensor", "partition": 1, "offset": 7}],
            None,
            Sent(_EVENT, True, Fate.WRITTEN, "sensor/1/7"),
        ),
        ("it hung", "no answer", Sent(_EVENT, True, Fate.UNKNOWN, reason="it hung")),
        (
            [{"error": {"type": "RejectedEventError", "reason": "A", "message": "b", "kept": "k"}}],
            None,
            Sent(_EVENT, True, Fate.REFUSED, reason="A: b", kept="k"),
        ),
        (
            [
                {
                    "error": {
                        "type": "UndeliveredEventError",
                        "reason": "A",
                        "message": "b",
                        "kept": None,
                    }
                }
            ],
            None,
            Sent(_EVENT, True, Fate.UNDELIVERED, reason="A: b"),
        ),
    ],
)
def test_an_answer_is_the_fate_of_its_event(answer: Any, error: str | None, sent: Sent) -> None:
    assert list(_read_fates([(_EVENT, True)], answer, error)) == [sent]


_PLACE = {"topic": "sensor", "partition": 1, "offset": 7}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([_PLACE] * 2, "ValueError: zip() argument 2 is longer"),
        ([], "ValueError: zip() argument 2 is shorter"),
        ([{"topic": "sensor"}], "KeyError: 'partition'"),
        ([{"error": {"reason": "A"}}], "KeyError: 'type'"),
        (["written"], "AttributeError: 'str' object"),
        (None, "TypeError: "),
    ],
)
def test_an_answer_in_another_form_is_the_fate_of_all_events(answer: Any, told: str) -> None:
    (sent,) = _read_fates([(_EVENT, True)], answer, None)

    assert replace(sent, reason="") == Sent(_EVENT, True, Fate.UNCLEAR)
    assert sent.reason.startswith(told)
    assert sent.reason.endswith(f", in {answer!r}")


def test_a_sender_keeps_its_rate_and_makes_up_for_no_time() -> None:
    pace, rng = Pace(), Random(1)
    pace.rate = 2.0

    pauses = [pace.choose_pause(rng, 4, now) for now in (10.0, 10.5, 30.0, 30.0)]

    assert pauses == [0, 1.5, 0, 2]
    pace.rate = float("inf")
    assert [pace.choose_pause(rng, 4, 50.0) for _ in range(2)] == [0, 0]
