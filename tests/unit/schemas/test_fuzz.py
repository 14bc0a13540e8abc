"""Random events through versions, policies, frames and merges; random damage; random definitions.

A failure prints its seed, and SEED=... repeats it. `make nightly` runs many more.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.errors import (
    EventError,
    FramingError,
    LossyWideningError,
    PayloadError,
    SchemaConflictError,
    SchemaError,
)
from penstock.framing import SchemaKey, decode_frame, encode_frame
from penstock.schemas import (
    Compatibility,
    Policy,
    Schema,
    VersionSet,
    canonical_form,
    check_compatibility,
    check_mode,
    check_schema,
    compile_encoder,
    compile_event_decoder,
    decode,
    encode,
    infer_schema,
    load_schema,
    merge_schemas,
    parse_event,
    to_record,
)
from tests.oracle.generate import Maker, damage
from tests.stubs.readings import BASE_FIELDS
from tests.unit.schemas.strategies import without_nothing

pytestmark = pytest.mark.timeout(1_800)  # `make nightly` takes minutes, more on a busy machine

_BASE = {"deviceId": "d-1", "timestamp": 1_795_234_015_788}
_KEY = SchemaKey.parse("d3e21a3b-f828-4ef7-a864-ea05cba14f2c")
_KEYS = ["a", "b", "A", "temp-c", "temp_x002d_c", "1st", "", "é", "éx0041_", "_x0041_", "_x1f600_"]
_EDGES = [0, 1, -1, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**63]
_DOUBLES = [0.5, -0.0, 30.0, 5e-324, 1e308, 2.0**53, 1e19]


def _value(rng: random.Random, depth: int) -> Any:
    makers: list[Callable[[], Any]] = [
        lambda: None,
        lambda: rng.random() < 0.5,
        lambda: rng.choice(_EDGES) if rng.random() < 0.2 else rng.randint(-99, 99),
        lambda: rng.choice(_DOUBLES) if rng.random() < 0.2 else rng.uniform(-99, 99),
        lambda: Maker(rng).text(),
        lambda: _event(rng, depth + 1),
        lambda: [_value(rng, depth + 1) for _ in range(rng.randint(0, 3))],
    ]
    return rng.choice(makers if depth < 4 else makers[:5])()


def _event(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    keys = rng.sample(_KEYS, rng.randint(0, 4))
    # A key mostly holds the same kind of value, or hardly two events would agree.
    kinds = {key: random.Random(f"{key}/{depth}/{rng.random() < 0.1}") for key in keys}
    return {key: _value(kinds[key] if rng.random() < 0.7 else rng, depth) for key in keys}


class _Sender:
    """Events of one schema, written as a producer writes them."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.versions: list[Schema] = []
        self._known = VersionSet(())
        self.sent: list[tuple[dict[str, Any], Schema, bytes]] = []

    def send(self, event: dict[str, Any]) -> str:
        """Write an event, or return the name of the error that rejects it."""
        try:
            parsed = parse_event(json.dumps(event))
            inferred = infer_schema(parsed, "reading", self._known.merged, BASE_FIELDS)
            version = self._known.choose(inferred, self._policy, 1_000)
        except (EventError, SchemaConflictError) as error:
            return type(error).__name__
        is_new = version not in self.versions
        if is_new:
            assert check_mode(version, self.versions, Compatibility.BACKWARD) == ()
            self.versions.append(version)
            self._known = VersionSet([version], self._known)
        payload = encode(to_record(parsed, version, _BASE), version)
        self.sent.append((_BASE | parsed, version, encode_frame(_KEY, payload)))
        return "a new version" if is_new else "a known version"


def _senders(rng: random.Random, count: int, outcomes: Counter[str]) -> Iterator[_Sender]:
    for _ in range(count):
        sender = _Sender(rng.choice([Policy.EXACT, Policy.GROW]))
        for _ in range(rng.randint(1, 8)):
            outcomes[sender.send(_event(rng))] += 1
        if sender.sent:
            yield sender


def test_events_come_back_through_their_version_and_through_the_merge(
    seeded: random.Random, trials: Callable[[int, int], int]
) -> None:
    outcomes: Counter[str] = Counter()
    for sender in _senders(seeded, trials(100, 5_000), outcomes):
        merged = merge_schemas(sender.versions)
        shuffled = seeded.sample(sender.versions, len(sender.versions))
        half = len(shuffled) // 2 or 1
        halves = [merge_schemas(part) for part in (shuffled[:half], shuffled[half:]) if part]
        assert canonical_form(merge_schemas(shuffled)) == canonical_form(merged)
        assert canonical_form(merge_schemas(halves)) == canonical_form(merged)
        for event, version, value in sender.sent:
            frame = decode_frame(value)
            assert frame is not None
            for reader in (None, merged):
                try:
                    found = compile_event_decoder(version, reader)(frame.payload)
                except LossyWideningError:
                    assert reader is merged
                    outcomes["LossyWideningError"] += 1
                else:
                    assert without_nothing(found) == without_nothing(event)
    assert outcomes.keys() >= {"a new version", "a known version", "SchemaConflictError"}, outcomes


def test_damaged_records_are_rejected_by_name_or_read_to_their_end(
    seeded: random.Random, trials: Callable[[int, int], int]
) -> None:
    outcomes: Counter[str] = Counter()
    for sender in _senders(seeded, trials(40, 2_000), Counter()):
        for _, version, value in sender.sent:
            read, write = compile_event_decoder(version), compile_encoder(version)
            for damaged in (damage(value, seeded) for _ in range(10)):
                try:
                    frame = decode_frame(damaged)
                    assert frame is not None
                    event = read(frame.payload)
                except (FramingError, PayloadError) as error:
                    outcomes[type(error).__name__] += 1
                    continue
                outcomes["read"] += 1
                again = decode(frame.payload, version)
                if "nan" not in repr(again) and "inf" not in repr(again):  # are not written
                    assert read(write(again)) == event
    assert {"read", "UnknownFramingError", "UndecodablePayloadError"} <= outcomes.keys(), outcomes


_JUNK: list[Any] = [
    *("", "int", "record", "null", "test.R1", "R1", "no.such", "é", "a-b", "."),
    *(None, True, 0, -1, 2**70, 0.5, [], {}, [[]], ["null", "null"], {"type": "int"}),
    {"type": "record", "name": "test.R1", "fields": []},
    {"type": "array", "items": "null"},
    {"type": "fixed", "name": "F", "size": 0},
]
_WORDS = [
    *("aliases", "default", "doc", "fields", "items", "jsonName", "logicalType", "name"),
    *("namespace", "order", "precision", "scale", "size", "symbols", "type", "values"),
]


def _mutate(schema: Any, rng: random.Random) -> Any:
    """Change a few places of a definition: a value, a key, or a copy of another place."""
    changed = copy.deepcopy(schema)
    for _ in range(rng.randint(1, 3)):
        places = list(_places(changed))
        holder, key = rng.choice(places)
        match rng.randrange(4):
            case 0:
                holder[key] = copy.deepcopy(rng.choice(_JUNK))
            case 1:
                other, at = rng.choice(places)
                holder[key] = copy.deepcopy(other[at])
            case 2 if isinstance(holder, dict):
                word = rng.choice(_WORDS)
                holder[word] = rng.choice([["R1"], ["f1", "f2"], *copy.deepcopy(_JUNK)])
            case _:
                del holder[key]
    return changed


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def test_a_hostile_definition_is_rejected_by_name_or_safe_to_read_and_merge(
    seeded: random.Random, trials: Callable[[int, int], int]
) -> None:
    outcomes: Counter[str] = Counter()
    for _ in range(trials(800, 40_000)):
        original = Maker(seeded).record()
        try:
            schema = load_schema(json.dumps(_mutate(original, seeded)))
        except SchemaError as error:
            outcomes[type(error).__name__] += 1
            continue
        text = canonical_form(schema)
        assert canonical_form(load_schema(text)) == text
        try:
            compile_event_decoder(schema)(seeded.randbytes(20))
        except PayloadError as error:
            outcomes[type(error).__name__] += 1
        try:
            merged = merge_schemas([original, schema])
        except SchemaConflictError:
            outcomes["conflict"] += 1
            continue
        outcomes["merged"] += 1
        check_schema(merged)
        for version in (original, schema):
            assert check_compatibility(reader=merged, writer=version) == ()
        value = Maker(seeded).value(original)
        try:
            read = decode(encode(value, original), original, merged)
        except LossyWideningError:
            continue
        assert without_nothing(read) == without_nothing(value)
    assert outcomes.keys() >= {"InvalidSchemaError", "merged", "conflict"}, outcomes
