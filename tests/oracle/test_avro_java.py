"""Our verdicts, bytes and values against those of Apache Avro for Java."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, cycle, islice
from typing import Any

import pytest

from penstock.errors import InvalidTextError, LossyWideningError, SchemaConflictError
from penstock.schemas import (
    check_compatibility,
    check_schema,
    decode,
    encode,
    merge_schemas,
)
from tests.oracle.avro import AvroOracle, AvroOracleError, to_wire
from tests.oracle.evolve import COMPATIBLE, INCOMPATIBLE, evolve
from tests.oracle.generate import Maker

pytestmark = pytest.mark.java

_SEED = 20261121


@pytest.fixture(scope="module")
def java() -> Iterator[AvroOracle]:
    with AvroOracle() as oracle:
        yield oracle


def _pairs(count: int) -> Iterator[tuple[Maker, Any, Any]]:
    """Give writers and evolved readers; every second one is changed incompatibly."""
    maker = Maker(random.Random(_SEED))
    changes = zip(cycle(COMPATIBLE), cycle(INCOMPATIBLE), strict=False)
    for change in islice(chain.from_iterable(changes), count):
        writer = maker.record()
        reader = evolve(writer, maker, change)
        check_schema(writer)
        check_schema(reader)
        yield maker, writer, reader


def test_verdicts_agree(java: AvroOracle, trials: Callable[[int, int], int]) -> None:
    count = trials(600, 6_000)
    kinds: Counter[str] = Counter()
    incompatible = 0
    for _, writer, reader in _pairs(count):
        expected = sorted(set(java.compare(reader, writer)))
        found = sorted({each.kind for each in check_compatibility(reader, writer)})
        assert found == expected, (writer, reader)
        kinds.update(expected)
        incompatible += bool(expected)
    assert count >= 500
    assert incompatible >= 0.3 * count
    assert set(kinds) == set(INCOMPATIBLE)
    assert min(kinds.values()) >= 20, kinds


def test_each_reads_what_the_other_wrote(
    java: AvroOracle, trials: Callable[[int, int], int]
) -> None:
    for maker, schema, _ in _pairs(trials(500, 5_000)):
        value = maker.value(schema)
        assert java.decode(encode(value, schema), schema) == to_wire(value), schema
        assert to_wire(decode(java.encode(value, schema), schema)) == to_wire(value), schema


def test_resolved_reads_agree_or_are_refused_by_name(
    java: AvroOracle, trials: Callable[[int, int], int]
) -> None:
    outcomes: Counter[str] = Counter()
    for maker, writer, reader in _pairs(trials(600, 6_000)):
        if check_compatibility(reader, writer):
            continue
        value = maker.value(writer)
        payload = java.encode(value, writer)
        try:
            expected = java.decode(payload, writer, reader)
        except AvroOracleError as error:
            # Java applies the aliases of fields only where the full name of the record is the same,
            # so it cannot read all that its own SchemaCompatibility calls compatible.
            assert "AvroTypeException: Found test." in str(error), (writer, reader)
            outcomes["refused by Java"] += 1
            continue
        try:
            found = to_wire(decode(payload, writer, reader))
        except (LossyWideningError, InvalidTextError) as error:
            outcomes[type(error).__name__] += 1
            continue
        assert found == expected, (value, writer, reader)
        outcomes["equal"] += 1
    assert outcomes["equal"] >= 0.95 * outcomes.total(), outcomes


def test_java_reads_every_version_through_their_merge(
    java: AvroOracle, trials: Callable[[int, int], int]
) -> None:
    outcomes: Counter[str] = Counter()
    for maker, *versions in _pairs(trials(400, 4_000)):
        try:
            merged = merge_schemas(versions)
        except SchemaConflictError:
            outcomes["conflict"] += 1
            continue
        check_schema(merged)
        for version in versions:
            assert java.compare(merged, version) == [], (merged, version)
            payload = encode(maker.value(version), version)
            try:
                found = to_wire(decode(payload, version, merged))
            except LossyWideningError:
                outcomes["lossy"] += 1
                continue
            assert found == java.decode(payload, version, merged), (merged, version)
            outcomes["equal"] += 1
    assert outcomes["equal"] >= 100, outcomes
    assert outcomes["conflict"] >= 20, outcomes
