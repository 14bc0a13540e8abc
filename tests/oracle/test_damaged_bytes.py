"""Damaged bytes: read as Java reads them, or refused; never read as something else."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.errors import PayloadError
from penstock.schemas import encode
from penstock.schemas.codec import compile_decoder
from tests.oracle.avro import AvroOracle, AvroOracleError, to_wire
from tests.oracle.generate import Maker, damage

pytestmark = pytest.mark.java

# Without these Java allocates what a damaged length claims, and its process ends there.
_LIMITS = " ".join(
    f"-Dorg.apache.avro.limits.{what}.maxLength=100000"
    for what in ("bytes", "string", "collectionItems")
)

# Where we refuse what Java reads, and why Java's reading is not to be had.
_STRICTER = {
    "expected a boolean": "Java takes any byte but 1 for false",
    "expected one of 32 bits": "Java drops the bits that do not fit",
    "expected one of 64 bits": "Java drops the bits that do not fit",
    "expected UTF-8": "Java puts U+FFFD in place of what it cannot read",
    "as it says": "Java reads the items and believes the size only where it skips them",
}


@pytest.fixture(scope="module")
def java() -> Iterator[AvroOracle]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", _LIMITS)
        with AvroOracle() as oracle:
            yield oracle


def _same_nan(value: Any) -> Any:
    """Give every NaN the same bits, as Java does."""
    if isinstance(value, dict):
        return {key: _same_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_same_nan(item) for item in value]
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def _judge(java: AvroOracle, read: Callable[[bytes], Any], payload: bytes, schema: Any) -> str:
    """Say how our reading and Java's of one payload go together."""
    try:
        expected = java.decode(payload, schema)
    except (AvroOracleError, AssertionError):
        expected = AvroOracleError
    try:
        found = to_wire(_same_nan(read(payload)))
    except PayloadError as error:
        if expected is AvroOracleError:
            return "refused by both"
        reasons = [reason for text, reason in _STRICTER.items() if text in str(error)]
        assert reasons, (str(error), expected, payload.hex(), schema)
        return reasons[0]
    assert found == expected, (payload.hex(), schema)
    return "read by both"


def test_no_damage_is_read_differently(
    java: AvroOracle, seeded: random.Random, trials: Callable[[int, int], int]
) -> None:
    maker = Maker(seeded)
    outcomes: Counter[str] = Counter()
    for _ in range(trials(200, 10_000)):
        schema = maker.record()
        payload = encode(maker.value(schema), schema)
        read = compile_decoder(schema)
        for damaged in (damage(payload, seeded) for _ in range(10)):
            outcomes[_judge(java, read, damaged, schema)] += 1
    assert outcomes["read by both"] >= 0.05 * outcomes.total(), outcomes
    assert outcomes["refused by both"] >= 0.4 * outcomes.total(), outcomes
