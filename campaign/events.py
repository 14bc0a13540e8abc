"""Events whose fields change as a run goes on, and records that mean harm."""

from __future__ import annotations

import io
import json
import time
import uuid
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

import fastavro

_KEYS: Final = 4  # of each sender; as many events have a key of their own
_SHARED: Final = 0.5
_UNFIT: Final = 0.05
_ABSENT: Final = 0.2
_WIDER_AFTER: Final = 6  # new fields until a whole number becomes a fraction

# The fields that come one after the other, again and again with other numbers. The first must be
# there in each event: a contradiction needs something to contradict.
_MAKE: Final[tuple[Callable[[Random], Any], ...]] = (
    lambda rng: rng.randrange(-(2**63), 2**63),
    lambda rng: rng.randrange(10**6),  # later a fraction
    lambda rng: rng.choice(["", "Depot", "Öl \U0001f6e2 'x'"]) + str(rng.random()),
    lambda rng: rng.random() < 0.5,
    lambda rng: [str(rng.random()) for _ in range(rng.randrange(1, 4))],
    lambda rng: {"lat": rng.uniform(-90, 90), "floor": rng.randrange(-3, 99)},
)
_WIDENED: Final = 1
_HEADER_BYTES: Final = 18  # of Glue's frame


class Events:
    """The events of one sender, by its seed; `level` is the number of fields that they may have."""

    def __init__(self, sender: str, rng: Random) -> None:
        self._sender = sender
        self._rng = rng
        self._number = 0

    def make(self, level: int) -> tuple[dict[str, Any], bool]:
        """Return the next event, and whether it contradicts no other one."""
        rng, self._number = self._rng, self._number + 1
        shared = rng.random() < _SHARED
        name = rng.randrange(_KEYS) if shared else f"n{self._number}"
        event = {
            "deviceId": f"{self._sender}-{name}",
            "timestamp": time.time_ns() // 1_000_000,
            "sender": self._sender,
            "number": self._number,
            "f0": _MAKE[0](rng),
        }
        for number in range(1, level):
            if rng.random() >= _ABSENT:
                event[f"f{number}"] = _make_value(rng, number, level)
        fits = level == 1 or rng.random() >= _UNFIT
        return (event if fits else event | {"f0": "a text"}), fits


def _make_value(rng: Random, number: int, level: int) -> Any:
    kind = number % len(_MAKE)
    if kind == _WIDENED and level > number + _WIDER_AFTER:
        return rng.uniform(-1e9, 1e9)
    return _MAKE[kind](rng)


def make_harm(rng: Random, number: int, versions: Mapping[str, str]) -> tuple[bytes, str]:
    """Return the value of a record that no reader can make a row of, and the reason it must get."""
    key, definition = rng.choice(sorted(versions.items()))
    row = {"deviceId": "harm", "timestamp": number, "sender": "harm", "number": number}
    frame = _frame(key, definition, row)
    unknown = uuid.UUID(int=rng.getrandbits(128), version=4).bytes
    return rng.choice(
        [
            (b"junk %d" % number, "unknown-framing"),
            (frame[:-1], "truncated"),
            (frame + b"!", "trailing-bytes"),
            (b"\3\0" + unknown + frame[_HEADER_BYTES:], "unknown-schema"),
        ]
    )


def make_mended(
    rng: Random, number: int, key: str, definition: str
) -> tuple[bytes, dict[str, Any]]:
    """Return the value of a record of another registry, and what it says, for a key of a sender."""
    row = {
        "deviceId": f"s0-{rng.randrange(_KEYS)}",
        "timestamp": time.time_ns() // 1_000_000,
        "sender": "yard",
        "number": number,
        "dock": str(rng.random()),
    }
    return _frame(key, definition, row), row


def _frame(key: str, definition: str, row: Mapping[str, Any]) -> bytes:
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(json.loads(definition)), dict(row))
    return b"\3\0" + uuid.UUID(key).bytes + body.getvalue()
