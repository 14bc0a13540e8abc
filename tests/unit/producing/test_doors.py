"""The same text through every door becomes the same row, or is refused in the same words."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from decimal import Context, Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.errors import BrokerUnavailableError
from penstock.operations import EventLines, ProduceSettings, produce_events
from penstock.producing import (
    EventProducer,
    Intake,
    Invocation,
    ProducerSettings,
    Refusal,
    RejectedEvent,
    Stamper,
    write_events,
)
from penstock.records import READING
from penstock.registry import CachedRegistry
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Numbers
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import KAFKA
from tests.unit.producing.test_intake import FakeBucket

_BASE = '"deviceId": "d-1", "timestamp": 5'
_EXACT = "12345678901234567.89"
_WIDE = Context(prec=1_000)


@dataclass
class _World:
    """A producer with a topic, a registry and a bucket of its own."""

    numbers: Numbers
    topic: FakeTopic = field(default_factory=lambda: FakeTopic(is_there=True))
    bucket: FakeBucket = field(default_factory=FakeBucket)
    memory: MemoryRegistry = field(default_factory=MemoryRegistry)

    @property
    def settings(self) -> ProducerSettings:
        return ProducerSettings(KAFKA, "memory://", numbers=self.numbers)

    def take(self, payload: Any) -> None:
        """Invoke the function with a payload, which Lambda's runtime parses."""
        producer = EventProducer(self.settings, CachedRegistry(self.memory), self.topic)  # type: ignore[arg-type]
        intake = Intake(producer, self.bucket, Stamper(READING, "000001"))  # type: ignore[arg-type]
        intake.accept(json.loads(json.dumps(payload)), Invocation("p", "r", lambda: 60))

    def outcome(self) -> str:
        """Return the row of the only event, or why it is refused."""
        if self.bucket.events:
            (kept,) = self.bucket.events
            return f"{kept.reason}: {kept.detail}"
        (row,) = self.topic.events(CachedRegistry(self.memory))
        return repr(row)


def _send_body(text: str, numbers: Numbers) -> str:
    world = _World(numbers)
    world.take({"requestContext": {}, "body": text})
    return world.outcome()


def _send_item(text: str, numbers: Numbers) -> str:
    world = _World(numbers)
    world.take({"requestContext": {}, "body": f"[{text}]"})
    return world.outcome()


def _send_string(text: str, numbers: Numbers) -> str:
    world = _World(numbers)
    world.take(text)
    return world.outcome()


def _send_again(text: str, numbers: Numbers) -> str:
    """Return the outcome of a replay, after the brokers did not take the event at first."""
    world = _World(numbers)
    world.topic.failure = BrokerUnavailableError("b-1:9098 does not answer in time")
    world.take({"requestContext": {}, "body": f"[{text}]"})
    kept = RejectedEvent.read(world.bucket.events.pop().write())
    world.topic.failure = None
    world.take(write_events([kept.with_base()]))
    return world.outcome()


def _send_line(text: str, numbers: Numbers, path: Path) -> str:
    """Return the outcome of `penstock produce`."""
    world = _World(numbers)
    path.write_text(text)
    with ExitStack() as stack:
        module = "penstock.operations.producing"
        stack.enter_context(patch(f"{module}.Producer", lambda *_: nullcontext(world.topic)))
        stack.enter_context(patch(f"{module}.load_registry", lambda *_, **__: world.memory))
        ((produced,),) = produce_events(ProduceSettings(world.settings), EventLines(str(path)))
    if isinstance(refusal := produced.refusal, Refusal):
        return f"{refusal.reason}: {refusal.message}"
    return world.outcome()


@pytest.fixture(scope="module")
def send_all(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """Send a text through each door, and return the outcomes."""
    path = tmp_path_factory.mktemp("doors") / "events.jsonl"
    doors = (_send_body, _send_item, _send_string, _send_again)

    def send_all(text: str, numbers: Numbers = Numbers.DOUBLE) -> list[str]:
        return [*(send(text, numbers) for send in doors), _send_line(text, numbers, path)]

    return send_all


_NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,21})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)
_KEYS = st.sampled_from(["a", "b", "temp-c", "größe", ""]).map(json.dumps)
_LEAVES = _NUMBERS | st.sampled_from(["true", "null", '"x"', '"\\ud83d\\ude00"', '"\\ud800"', "[]"])


def _write_object(pairs: list[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"


_VALUES = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(_KEYS, inner), max_size=3).map(_write_object)
    ),
    max_leaves=4,
)
_TEXTS = st.lists(st.tuples(_KEYS, _VALUES), max_size=4).map(_write_object)


@given(text=_TEXTS, numbers=st.sampled_from(Numbers))
@example(text=f'{{"a": {_EXACT}}}', numbers=Numbers.DOUBLE)
@example(text=f'{{"a": {_EXACT}}}', numbers=Numbers.DECIMAL)
@example(text='{"a": [0.1, {"a": 1, "a": 2}]}', numbers=Numbers.DOUBLE)
@example(text='{"a": 30.50, "b": 1e-400}', numbers=Numbers.DOUBLE)
@example(text='{"a": 1e400}', numbers=Numbers.DECIMAL)
@example(text='{"a": 9007199254740993.0}', numbers=Numbers.DOUBLE)
def test_a_text_has_one_outcome_at_every_door(
    send_all: Callable[..., list[str]], text: str, numbers: Numbers
) -> None:
    text = text.replace("{", f"{{{_BASE}, ", 1).replace(", }", "}", 1)

    outcomes = send_all(text, numbers)

    assert len(set(outcomes)) == 1, outcomes


@given(digits=_NUMBERS)
def test_a_double_is_the_number_of_the_text_or_the_text_is_refused(
    send_all: Callable[..., list[str]], digits: str
) -> None:
    outcome = send_all(f'{{{_BASE}, "a": {digits}}}')[0]

    value = json.loads(digits)
    if isinstance(value, int):
        is_held = -(2**63) <= value < 2**63
    else:
        is_held = Decimal(repr(value)) == Decimal(digits)
    row = {"deviceId": "d-1", "timestamp": 5, "a": value}
    assert outcome == repr(row) if is_held else outcome.startswith("EventValueError: a: found ")


@given(digits=_NUMBERS)
def test_a_decimal_is_the_number_of_the_text_or_the_text_is_refused(
    send_all: Callable[..., list[str]], digits: str
) -> None:
    outcome = send_all(f'{{{_BASE}, "a": {digits}}}', Numbers.DECIMAL)[0]

    number = Decimal(digits)
    is_held = not number or (
        number.adjusted() < 20 and number.normalize(_WIDE).as_tuple().exponent >= -18
    )
    found = outcome.partition("'a': Decimal('")[2].removesuffix("')}")
    assert Decimal(found) == number if is_held else outcome.startswith("EventValueError: a: found ")


def test_lambda_parses_a_payload_that_is_no_string_before_the_function_sees_it() -> None:
    """The limit that docs/events.md names: the first key and the last digits are lost."""
    world = _World(Numbers.DOUBLE)

    world.take(json.loads(f'{{{_BASE}, "a": 1, "a": 2, "b": {_EXACT}}}'))

    assert world.outcome() == repr(
        {"deviceId": "d-1", "timestamp": 5, "a": 2, "b": 1.2345678901234568e16}
    )


def test_a_refusal_names_the_field_the_digits_and_what_to_do() -> None:
    assert _send_body(f'{{"o": {{"total": {_EXACT}}}}}', Numbers.DOUBLE) == (
        "EventValueError: o.total: found 12345678901234567.89, expected a number that a double "
        "holds with all its digits: send it as text, or set the producer's numbers to decimal"
    )


def test_an_event_that_was_refused_for_its_digits_is_replayed_once_numbers_are_decimals() -> None:
    world = _World(Numbers.DOUBLE)
    world.take({"requestContext": {}, "body": f'{{{_BASE}, "total": {_EXACT}}}'})
    kept = RejectedEvent.read(world.bucket.events.pop().write())

    world.numbers = Numbers.DECIMAL
    world.take(write_events([kept.with_base()]))

    assert f"'total': Decimal('{_EXACT}')" in world.outcome()
