"""Laws that hold for every event and every set of versions."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from penstock.errors import EventError, LossyWideningError, SchemaConflictError
from penstock.schemas import (
    Schema,
    canonical_form,
    check_compatibility,
    check_schema,
    decode,
    decode_event,
    encode,
    infer_schema,
    load_schema,
    merge_schemas,
    parse_event,
    to_record,
)
from tests.oracle.avro import to_wire
from tests.oracle.evolve import COMPATIBLE, INCOMPATIBLE, evolve
from tests.oracle.generate import Maker
from tests.stubs.readings import BASE_FIELDS
from tests.unit.schemas.strategies import EVENTS, without_nothing

_DEFAULTS = {"deviceId": "d-1", "timestamp": 1_795_234_015_788}


def _infer(event: dict[str, Any], known: Schema | None = None) -> Schema:
    """Infer, or reject the example where the event is one that is refused by name."""
    try:
        return infer_schema(event, "reading", known, BASE_FIELDS)
    except EventError as error:
        assert str(error).startswith(error.path)
        assume(False)
        raise


def _settled(value: Any) -> Any:
    """Sort what may be in any order: fields, symbols, branches."""
    if isinstance(value, list):
        return sorted((_settled(item) for item in value), key=json.dumps)
    if isinstance(value, dict):
        return {key: _settled(value[key]) for key in sorted(value)}
    return value


def _merge(versions: Sequence[Schema]) -> Any:
    try:
        return _settled(merge_schemas(versions))
    except SchemaConflictError:
        return "conflict"


def _grouped(one: Schema, other: Schema, third: Schema) -> Any:
    try:
        return _merge([merge_schemas([one, other]), third])
    except SchemaConflictError:
        return "conflict"


def _made_versions(seed: int) -> list[Any]:
    """Make three versions by hand, so to say: of every Avro type, evolved both ways."""
    maker = Maker(random.Random(seed))
    changes = list(COMPATIBLE | INCOMPATIBLE)
    first = maker.record()
    second = evolve(first, maker, maker.rng.choice(changes))
    return [first, second, evolve(second, maker, maker.rng.choice(changes))]


@given(EVENTS, EVENTS, EVENTS)
def test_the_merge_of_inferred_versions_does_not_depend_on_order(
    one: dict[str, Any], other: dict[str, Any], third: dict[str, Any]
) -> None:
    versions = [_infer(event) for event in (one, other, third)]
    merged = _merge(versions)
    for order in itertools.permutations(versions):
        assert _merge(order) == merged
        assert _grouped(*order) == merged
    assert _merge([versions[0], versions[0]]) == _settled(versions[0])


@given(st.integers(0, 2**32))
def test_the_merge_of_generated_versions_does_not_depend_on_order(seed: int) -> None:
    versions = _made_versions(seed)
    merged = _merge(versions)
    for order in itertools.permutations(versions):
        assert _merge(order) == merged
        # Two may contradict each other where the third, a union, says that both are meant.
        if _merge(order[:2]) != "conflict":
            assert _grouped(*order) == merged
    if merged != "conflict":
        again = merge_schemas([merge_schemas(versions)])
        assert _settled(again) == merged


@given(EVENTS, EVENTS)
def test_events_of_each_version_are_read_through_the_merge(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    versions = [_infer(one), _infer(other)]
    try:
        merged = merge_schemas(versions)
    except SchemaConflictError:
        return
    for event, version in zip((one, other), versions, strict=True):
        assert check_compatibility(reader=merged, writer=version) == ()
        payload = encode(to_record(event, version, _DEFAULTS), version)
        try:
            read = decode_event(payload, version, merged)
        except LossyWideningError:
            continue
        assert without_nothing(read) == without_nothing(_DEFAULTS | event)


@given(st.integers(0, 2**32))
def test_values_of_generated_versions_are_read_through_the_merge(seed: int) -> None:
    versions = _made_versions(seed)
    try:
        merged = merge_schemas(versions)
    except SchemaConflictError:
        return
    check_schema(merged)
    for version in versions:
        assert check_compatibility(reader=merged, writer=version) == ()
        value = Maker(random.Random(seed)).value(version)
        try:
            read = decode(encode(value, version), version, merged)
        except LossyWideningError:
            continue
        assert without_nothing(read) == without_nothing(value)


@given(EVENTS, st.randoms(use_true_random=False))
def test_key_order_does_not_change_the_schema(event: dict[str, Any], rng: random.Random) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            keys = rng.sample(sorted(value), len(value))
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    assert json.dumps(_infer(event)) == json.dumps(_infer(shuffled(event)))


@given(EVENTS)
def test_an_event_round_trips_through_its_own_schema(event: dict[str, Any]) -> None:
    schema = _infer(event)
    check_schema(schema)
    record = to_record(event, schema, _DEFAULTS)
    decoded = decode(encode(record, schema), schema)
    assert to_wire(decoded) == to_wire(record)
    restored = decode_event(encode(record, schema), schema)
    assert without_nothing(restored) == without_nothing(_DEFAULTS | event)


@given(EVENTS, EVENTS)
def test_a_schema_inferred_with_what_is_known_merges_with_it(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    known = _infer(one)
    try:
        inferred = infer_schema(other, "reading", known, BASE_FIELDS)
    except (EventError, SchemaConflictError):
        return
    merged = merge_schemas([known, inferred])
    to_record(other, merged, _DEFAULTS)
    assert _settled(_infer(other, merged)) == _settled(inferred)


@given(EVENTS)
def test_the_parser_returns_the_event(event: dict[str, Any]) -> None:
    assert to_wire(parse_event(json.dumps(event))) == to_wire(event)
    assert to_wire(parse_event(json.dumps(event, ensure_ascii=False).encode())) == to_wire(event)


@pytest.mark.parametrize("seed", range(30))
def test_the_canonical_form_is_a_definition_of_the_same_schema(seed: int) -> None:
    for schema in _made_versions(seed):
        text = canonical_form(schema)
        loaded = load_schema(text)
        assert canonical_form(loaded) == text
        assert check_compatibility(loaded, schema) == check_compatibility(schema, loaded) == ()
