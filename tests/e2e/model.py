"""Events whose fields change, and the rows they must become: without a line of product code."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

Event = dict[str, Any]
Row = dict[str, Any]

LISTED = "d-00"  # the device that sends its events in one list
_START_MS = 1_795_234_000_000
_DEVICES, _OF_EACH_KIND = 20, 100

# What an event has besides device and time, from the first shape to the last.
_SHAPES: tuple[Mapping[str, tuple[Any, ...]], ...] = (
    {},
    {"count": (0, -1, 7, 2**53 + 1, 2**63 - 1)},
    {"count": (1, 2), "humidity": (40, 41)},
    {"humidity": (40.5, 0.1, 41)},  # a long until now: a widening
    {"humidity": (1e22, -1e-9), "on": (True, False)},
    {"on": (True, False), "place": ({"floor": 3}, {"floor": -1})},
    {"place": ({"floor": 3, "room": "é\U0001f600"}, {"floor": 0, "room": '"'})},
    {"marks": (["a", ""], ["x"] * 9), "place": ({"floor": 1, "room": "b"},)},
    {"series": ([{"at": 1, "value": 0.5}, {"at": 2}], [{"at": 3, "value": 7}])},
    {"count": (9,), "humidity": (0.25,), "marks": ([],), "on": (False,)},  # marks are known by now
)


def make_events(seeded: random.Random) -> tuple[list[Event], list[Event]]:
    """Make the events of one device for a list, and as many of the others, one by one.

    The shapes come one after another, and those that were there before come again in between.
    """
    listed, single = [], []
    for number in range(_OF_EACH_KIND):
        for events, device in (
            (listed, LISTED),
            (single, f"d-{number % (_DEVICES - 1) + 1:02d}"),
        ):
            newest, since = divmod(number * len(_SHAPES), _OF_EACH_KIND)
            again = seeded.randrange(newest + 1) if since else newest
            shape = _SHAPES[seeded.choice([newest, newest, again])]
            event = {name: seeded.choice(values) for name, values in shape.items()}
            events.append({"deviceId": device, "timestamp": _START_MS + number // 2} | event)
    return listed, single


def expect_rows(events: Sequence[Event], answers: Sequence[Event]) -> dict[str, Row]:
    """Work out the row of each event, by the record that the producer function named."""
    rows = {}
    for event, answer in zip(events, answers, strict=True):
        topic, partition, offset = (answer[name] for name in ("topic", "partition", "offset"))
        rows[f"{topic}/{partition}/{offset}"] = {
            **{name: _stored(value) for name, value in event.items()},
            "readingId": f"{event['timestamp']:013d}-{topic}-{partition}-{offset}",
            "_topic": topic,
            "_source": f"{topic}/{partition}/{offset}",
            "_schema": Decimal(answer["schema"]["version"]),
            "_schemaId": answer["schema"]["id"],
        }
    return rows


def find_differences(expected: Mapping[str, Row], found: Sequence[Row]) -> list[str]:
    """Compare rows by count, coordinates and every value; a number is no boolean."""
    differences = []
    if len(found) != len(expected):
        differences.append(f"{len(found)} rows, expected {len(expected)}")
    by_source = {row["_source"]: row for row in found}
    for source in sorted({*expected, *by_source}):
        got, wanted = by_source.get(source), expected.get(source)
        if _exact(got) != _exact(wanted):
            differences.append(f"{source}: {got}, expected {wanted}")
    return differences


def _stored(value: Any) -> Any:
    """A value as DynamoDB gives it back."""
    if isinstance(value, dict):
        return {name: _stored(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_stored(each) for each in value]
    return value if isinstance(value, bool | str) else Decimal(repr(value))


def _exact(value: Any) -> Any:
    """A value that equals no value of another type."""
    if isinstance(value, dict):
        return {name: _exact(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_exact(each) for each in value]
    return type(value), value
