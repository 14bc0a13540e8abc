"""The oracle finds what is wrong in histories that were doctored."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from campaign.history import Fate, History, Letter, Made, Record, Row, Sent
from campaign.oracle import Kind, find_problems
from systems.processes import End

_KEY = str(uuid.UUID(int=1))
_FIELDS = [
    {"name": "deviceId", "type": "string"},
    {"name": "sender", "type": "string"},
    {"name": "number", "type": "long"},
    {"name": "f1", "type": ["null", "double"], "default": None},
]
_SCHEMA = json.dumps({"type": "record", "name": "sensor", "fields": _FIELDS})
_JUNK = b"junk"
_END = "Traceback\npenstock.errors.BrokerUnavailableError: no broker answers"


def _event(number: int, **more: Any) -> Row:
    return {"deviceId": "d", "sender": "s0", "number": number, **more}


def _place(offset: int) -> str:
    return f"sensor/0/{offset}"


def _record(offset: int, event: Row) -> Record:
    body = io.BytesIO()
    fastavro.schemaless_writer(body, json.loads(_SCHEMA), dict(event))
    frame = b"\3\0" + uuid.UUID(_KEY).bytes + body.getvalue()
    return Record(0, offset, 100 + offset, frame, "sensor")


_EVENTS = [_event(1), _event(2, f1=0.5)]
_BAD = _event(3, f1="a text")
_SENT = [
    Sent(_EVENTS[0], True, Fate.WRITTEN, _place(0)),
    Sent(_EVENTS[1], True, Fate.WRITTEN, _place(1)),
    Sent(_BAD, False, Fate.REFUSED, reason="SchemaConflictError", kept="k"),
    Sent(_event(4), True, Fate.UNKNOWN),
]
_RECORDS = [
    *(_record(offset, event) for offset, event in enumerate(_EVENTS)),
    Record(0, 2, 102, _JUNK, "sensor"),
    Record(0, 3, 103, None, "sensor"),
]
# A row as DynamoDB has it, and one as the lake has it.
_ROWS = [
    (_place(0), {**_event(1), "number": Decimal(1), "readingId": "r", "_schema": 1}),
    (_place(1), {**_EVENTS[1], "_offset": 1}),
]
_NEWEST = [(_place(1), {**_EVENTS[1], "f1": Decimal("0.5"), "_order": "x"})]
_LETTERS = [Letter(_place(2), "unknown-framing", _JUNK)]
_KEPT = {"base": {"deviceId": "other"}, "event": _BAD, "reason": "SchemaConflictError"}
_HISTORY = History(
    sent=_SENT,
    hostile={_JUNK: "unknown-framing"},
    records=_RECORDS,
    versions={_KEY: _SCHEMA},
    made={"job": Made({"lake": _ROWS}, {"newest": _NEWEST}, _LETTERS)},
    kept={"k": _KEPT},
)


def _check(**changes: Any) -> list[tuple[Kind, str]]:
    return [(each.kind, each.what) for each in find_problems(replace(_HISTORY, **changes))]


def _check_made(**changes: Any) -> list[tuple[Kind, str]]:
    return _check(made={"job": replace(_HISTORY.made["job"], **changes)})


def _sent(at: int, **changes: Any) -> list[Sent]:
    return [replace(each, **changes) if i == at else each for i, each in enumerate(_SENT)]


def test_a_history_that_is_right_has_no_problem() -> None:
    assert _check() == []


def test_an_event_without_an_answer_may_be_there_once() -> None:
    record = _record(4, _event(4))
    row = (_place(4), _event(4))
    made = Made({"lake": [*_ROWS, row]}, {"newest": [row]}, _LETTERS)

    assert _check(records=[*_RECORDS, record], made={"job": made}) == []


# --- senders and the topic -------------------------------------------------------------------


def test_an_acknowledged_event_that_is_not_in_the_topic_is_lost() -> None:
    made = Made({"lake": _ROWS[:1]}, {"newest": [(_place(0), _event(1))]}, _LETTERS)

    assert _check(records=[_RECORDS[0], *_RECORDS[2:]], made={"job": made}) == [
        (Kind.LOST, "('s0', 2) was acknowledged as sensor/0/1, and is nowhere")
    ]


def test_an_event_that_is_elsewhere_is_lost() -> None:
    problem = (Kind.LOST, "('s0', 1) was acknowledged as sensor/0/7, and is sensor/0/0")

    assert problem in _check(sent=_sent(0, place="sensor/0/7"))


def test_an_event_that_is_twice_in_the_topic_is_told() -> None:
    problems = _check(records=[*_RECORDS, _record(4, _EVENTS[0])])

    assert (Kind.TWICE, "('s0', 1) is in the topic as sensor/0/0, sensor/0/4") in problems


def test_an_event_with_another_value_in_the_topic_is_told() -> None:
    problems = _check(sent=_sent(1, values=_event(2, f1=0.25)))

    assert problems == [(Kind.WRONG, "sensor/0/1, ('s0', 2): f1 is 0.5, sent 0.25")]


def test_a_good_event_that_is_refused_and_a_bad_one_that_is_written_are_told() -> None:
    assert _check(sent=_sent(2, fits=True)) == [
        (Kind.WRONG, "('s0', 3) was refused for SchemaConflictError, and is good")
    ]
    assert _check(sent=_sent(0, fits=False)) == [
        (Kind.WRONG, "sensor/0/0 contradicts the events before it")
    ]


def test_a_refused_event_that_is_in_the_topic_or_not_in_the_bucket_is_told() -> None:
    sent = _sent(1, fate=Fate.REFUSED, fits=False, kept="other")
    kept = {**_HISTORY.kept, "other": _KEPT | {"event": _EVENTS[1]}}
    assert _check(sent=sent, kept=kept) == [
        (Kind.WRONG, "('s0', 2) was refused, and is sensor/0/1")
    ]
    assert _check(kept={}) == [(Kind.LOST, "('s0', 3) was refused, and is not kept as 'k'")]
    assert _check(sent=_sent(3, fate=Fate.UNDELIVERED)) == [
        (Kind.LOST, "('s0', 4) was undelivered, and is not kept as ''")
    ]


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (_KEPT | {"event": _event(3)}, "f1 is None, sent 'a text'"),
        (_KEPT | {"event": _event(4, f1="a text")}, "number is 4, sent 3"),
        (_KEPT | {"event": {**_BAD, "number": "3"}}, "number is '3', sent 3"),
        (_KEPT | {"base": {"f2": 1}}, "f2 is 1, sent None"),
        (_KEPT | {"event": str(_BAD)}, "no event"),
        ({"event": _BAD}, "no event"),
        (None, "no event"),
    ],
)
def test_an_event_that_is_not_kept_as_it_was_sent_is_told(document: Any, told: str) -> None:
    for fate in (Fate.REFUSED, Fate.UNDELIVERED):
        problems = _check(sent=_sent(2, fate=fate), kept={"k": document})

        assert problems == [(Kind.LOST, f"('s0', 3) was {fate}, and 'k' keeps another one: {told}")]


def test_an_event_whose_key_is_that_of_another_one_is_lost() -> None:
    other = Sent(_event(5, f1="a text"), False, Fate.REFUSED, kept="k")

    assert _check(sent=[*_SENT, other]) == [
        (Kind.LOST, "('s0', 5) was refused, and 'k' keeps another one: number is 3, sent 5")
    ]


def test_an_answer_in_another_form_is_told() -> None:
    assert _check(sent=_sent(3, fate=Fate.UNCLEAR, reason="ValueError: 2 answers")) == [
        (Kind.WRONG, "('s0', 4) has an answer in another form: ValueError: 2 answers")
    ]


def test_a_record_that_nobody_sent_or_can_read_is_told() -> None:
    assert _check(sent=_SENT[1:]) == [(Kind.WRONG, "sensor/0/0 is of ('s0', 1), which nobody sent")]
    problems = _check(records=[*_RECORDS, Record(0, 4, 104, b"\3\0what", "sensor")])
    assert problems == [(Kind.WRONG, "sensor/0/4 cannot be read, and is not hostile")]


@pytest.mark.parametrize("places", [("sensor/0/1", "sensor/0/0"), ("sensor/0/0", "sensor/1/9")])
def test_events_of_a_key_in_another_order_are_told(places: tuple[str, str]) -> None:
    sent = [
        replace(each, place=place) for each, place in zip(_SENT[:2], places, strict=True)
    ]  # what its sender was told

    assert [kind for kind, _ in _check(sent=[*sent, *_SENT[2:]])].count(Kind.ORDER) == 1


# --- rows and dead letters -------------------------------------------------------------------


def test_a_record_without_a_row_is_lost() -> None:
    problems = _check_made(appended={"lake": _ROWS[1:]})

    assert problems == [(Kind.LOST, "job, lake: no row of sensor/0/0, ('s0', 1)")]


def test_a_record_that_is_given_up_is_not_lost() -> None:
    letters = [*_LETTERS, Letter(_place(1), "unknown-schema", b"")]
    newest = {"newest": [(_place(0), _event(1))]}
    made = Made({"lake": _ROWS[:1]}, newest, letters)

    assert _check(made={"job": made}) == [
        (Kind.LETTER, "job: sensor/0/1 is good, given up for unknown-schema")
    ]


def test_a_record_with_two_rows_is_told() -> None:
    problems = _check_made(appended={"lake": [*_ROWS, _ROWS[0]]})

    assert problems == [(Kind.TWICE, "job, lake: 2 rows of sensor/0/0")]


@pytest.mark.parametrize(
    ("values", "difference"),
    [
        ({"f1": 0.25}, "f1 is 0.25, sent 0.5"),
        ({"f1": None}, "f1 is None, sent 0.5"),
        ({"f2": 1}, "f2 is 1, sent None"),
    ],
)
def test_a_row_with_other_values_is_told(values: Mapping[str, Any], difference: str) -> None:
    rows = [_ROWS[0], (_place(1), {**_ROWS[1][1], **values})]

    problems = _check_made(appended={"lake": rows})

    assert problems == [(Kind.WRONG, f"job, lake: sensor/0/1: {difference}")]


def test_a_row_of_no_good_record_is_told() -> None:
    problems = _check_made(appended={"lake": [*_ROWS, (_place(3), {})]})

    assert problems == [(Kind.WRONG, "job, lake: a row of sensor/0/3, which is no good record")]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            [(_place(0), _event(1))],
            (Kind.ORDER, "job, newest: d is sensor/0/0, the newest is sensor/0/1"),
        ),
        ([], (Kind.LOST, "job, newest: no row of d, the newest is sensor/0/1")),
        (
            [(_place(1), _event(2, f1=7))],
            (Kind.WRONG, "job, newest: sensor/0/1: f1 is 7, sent 0.5"),
        ),
        (
            [*_NEWEST, (_place(1), {"deviceId": "x"})],
            (Kind.WRONG, "job, newest: a row of x, which no good record has"),
        ),
    ],
)
def test_a_newest_row_that_is_not_the_newest_record_is_told(
    rows: list[tuple[str, Row]], problem: tuple[Kind, str]
) -> None:
    assert _check_made(newest={"newest": rows}) == [problem]


@pytest.mark.parametrize(
    ("letters", "problem"),
    [
        ([], (Kind.LOST, "job: no dead letter of sensor/0/2, expected unknown-framing")),
        (
            [Letter(_place(2), "truncated", _JUNK)],
            (
                Kind.LETTER,
                "job: the dead letter of sensor/0/2 says truncated, expected unknown-framing",
            ),
        ),
        (
            [Letter(_place(2), "unknown-framing", b"other")],
            (Kind.WRONG, "job: the dead letter of sensor/0/2 has other bytes"),
        ),
        (
            [*_LETTERS, Letter(_place(0), "unknown-schema", b"")],
            (Kind.LETTER, "job: sensor/0/0 is good, given up for unknown-schema"),
        ),
        (_LETTERS * 2, (Kind.TWICE, "job: 2 dead letters of sensor/0/2")),
    ],
)
def test_a_dead_letter_that_nothing_explains_is_told(
    letters: list[Letter], problem: tuple[Kind, str]
) -> None:
    assert _check_made(letters=letters) == [problem]


# --- records that a replay mends -------------------------------------------------------------

_YARD = {"deviceId": "d", "sender": "yard", "number": 1, "dock": "b"}
_MENDED = Record(0, 4, 104, b"of another registry", "sensor")
_OPEN = Letter(_place(4), "forbidden-schema", b"of another registry")
_DONE = replace(_OPEN, is_done=True)
_ROW = (_place(4), {**_YARD, "_offset": 4})


def _check_replay(**changes: Any) -> list[tuple[Kind, str]]:
    function = Made({"readings": _ROWS}, {}, [*_LETTERS, _OPEN])
    job = Made({"lake": [*_ROWS, _ROW]}, {"newest": [_ROW]}, [*_LETTERS, _DONE], is_replayed=True)
    return _check(
        hostile={**_HISTORY.hostile, _OPEN.value: _OPEN.reason},
        mended={_OPEN.value: _YARD},
        records=[*_RECORDS, _MENDED],
        made={"function": function, "job": replace(job, **changes)},
    )


def test_a_replay_makes_a_row_of_what_the_function_gives_up() -> None:
    assert _check_replay() == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"appended": {"lake": _ROWS}},
            (Kind.LOST, "job, lake: no row of sensor/0/4, ('yard', 1)"),
        ),
        (
            {"appended": {"lake": [*_ROWS, _ROW, _ROW]}},
            (Kind.TWICE, "job, lake: 2 rows of sensor/0/4"),
        ),
        (
            {"newest": {"newest": _NEWEST}},
            (Kind.ORDER, "job, newest: d is sensor/0/1, the newest is sensor/0/4"),
        ),
        (
            {"appended": {"lake": [*_ROWS, (_place(4), {**_YARD, "dock": "c"})]}},
            (Kind.WRONG, "job, lake: sensor/0/4: dock is 'c', sent 'b'"),
        ),
        (
            {"letters": [*_LETTERS, _OPEN], "newest": {"newest": _NEWEST}},
            (Kind.LOST, "job: the dead letter of sensor/0/4 is still open"),
        ),
        (
            {"letters": _LETTERS},
            (Kind.LOST, "job: no dead letter of sensor/0/4, expected forbidden-schema"),
        ),
        (
            {"letters": [replace(_LETTERS[0], is_done=True), _DONE]},
            (Kind.LETTER, "job: sensor/0/2 cannot be read, and its letter is done"),
        ),
    ],
)
def test_a_record_that_was_not_replayed_once_is_told(
    changes: Mapping[str, Any], problem: tuple[Kind, str]
) -> None:
    assert _check_replay(**changes) == [problem]


# --- the job ---------------------------------------------------------------------------------


def test_an_end_of_the_job_has_a_name() -> None:
    assert _check(ends=[End(1, _END)]) == []
    (problem,) = _check(ends=[End(1, "Killed")])
    assert problem == (Kind.ERROR, "the job ended with 1, and says: Killed")
    assert _check(ends=[End(0, _END)])[0][0] is Kind.ERROR


def test_a_driver_with_much_memory_is_told() -> None:
    assert _check(peak_mb=9_000) == [(Kind.MEMORY, "a driver had 9000 MB, expected 2500")]
